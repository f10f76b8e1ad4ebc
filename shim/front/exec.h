#ifndef REPRISE_EXEC_H
#define REPRISE_EXEC_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

// The size of a file's ID: "DEVICE.INODE", both in hex.
#define REPRISE_ID_SIZE 40

// The PATH of a call that has none: glibc's execvp takes the same.
#define REPRISE_PATH "/bin:/usr/bin"

// How often one call can pass through shims of reprise.
#define REPRISE_MAX_HOPS 20

// Longer values of REPRISE_GUARD are ignored: two IDs for each hop need less.
#define REPRISE_GUARD_SIZE 2048

// How many milliseconds can pass between two hops of one loop. A program that takes longer before
// it calls the tool is no wrapper, but for example an agent that starts its successor.
#define REPRISE_LOOP_MS 2000

// argv[0] of the shim when it starts a tool with signals ignored or blocked (start_tool).
#define REPRISE_START "reprise-start"

// argv[0] of the shim when it is the witness of signals to the process group (witness).
#define REPRISE_WITNESS "reprise-witness"

// The shims that a call has passed through: their number, and the IDs, separated by commas, of the
// files that are not the real binary. The IDs count only in the process that tried them; a child
// inherits only the number.
struct reprise_guard {
	int hops;
	char tried[REPRISE_GUARD_SIZE + REPRISE_ID_SIZE];
};

struct reprise_target {
	char path[PATH_MAX];
	char id[REPRISE_ID_SIZE];
};

// The facts about a start of this program that decide whether Go is needed.
struct reprise_start {
	int argc;
	char **argv, **envp;
	bool stdin_tty, stdout_tty;
};

extern const char *reprise_shim; // the shim's name, NULL if the program has another one

void reprise_hide(void);
void reprise_close_others(int first);
bool reprise_unmanaged(const struct reprise_start *s);
bool reprise_plain_config(const char *text, size_t size);
bool reprise_account_home(char home[PATH_MAX]);

void reprise_read_guard(const char *value, long pid, const char *self, struct reprise_guard *g);
void reprise_write_guard(const struct reprise_guard *g, const char *id, long pid, char value[2 * REPRISE_GUARD_SIZE]);

bool reprise_identify(const char *path, char id[REPRISE_ID_SIZE]);
bool reprise_self(char id[REPRISE_ID_SIZE]);
bool reprise_find(const char *name, const char *configured, const char *path, const char *skip, bool again, struct reprise_target *found);
bool reprise_is_script(const char *path);

#endif
