// Find the real binary, and become it before the Go runtime starts.
//
// A Go program that calls exec costs over a millisecond, loses the caller's ignored signals, and
// does not start at all under a tight `ulimit -v`. So a call that is certainly not managed never
// reaches Go: the C library runs start(), at the end of this file, before main, and start() calls
// exec. If anything is uncertain it returns, and Go decides. Go uses the same code to find the
// real binary.
//
// For Go readers: a constructor is an init function of the whole program, static means not
// exported, and execve returns only if it fails.
#define _GNU_SOURCE // memmem, fgetpwent

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#else
#include <mach-o/dyld.h>
#endif

#include "exec.h"

// --- which calls are certainly not managed ---

// A tool's calls that are passed through, as far as the first argument and the environment show.
// rewrite/ decides on all calls. A test checks that it passes through each call that is passed
// through here.
struct tool {
	const char *name;
	const char *const *managed;  // first words that are left to Go; if there are any, all others are subcommands
	const char *const *commands; // first words
	const char *const *alone;    // options that are the only argument
	const char *const *nested;   // variables that the tool sets for its children
};

#include "tools_table.h"

// in reports whether a list, which ends with NULL or is NULL, contains a word.
static bool in(const char *const *list, const char *word)
{
	for (; list && *list; list++)
		if (strcmp(*list, word) == 0)
			return true;
	return false;
}

// lookup returns a variable, NULL if it is not set.
static const char *lookup(char **envp, const char *name)
{
	size_t n = strlen(name);
	for (; *envp; envp++)
		if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
			return *envp + n + 1;
	return NULL;
}

// value returns a variable, "" if it is not set.
static const char *value(char **envp, const char *name)
{
	const char *text = lookup(envp, name);
	return text ? text : "";
}

// base_name returns the part of a path behind the last slash.
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

// tool_of returns the tool of a name, NULL for none.
static const struct tool *tool_of(const char *name)
{
	for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
	return NULL;
}

// executed returns the path that the caller has executed, as it was written; "" if it is not known.
static const char *executed(void)
{
#ifdef __linux__
	const char *path = (const char *)getauxval(AT_EXECFN);
	return path ? path : "";
#else
	static char path[PATH_MAX];
	uint32_t size = sizeof path;
	return _NSGetExecutablePath(path, &size) == 0 ? path : "";
#endif
}

// is_shim reports whether a name is a shim's.
static bool is_shim(const char *name) { return tool_of(name) || strcmp(name, "npx") == 0; }

// called returns the name of the program as called: the name of the file that was executed, or if that is no shim's, as after
// fexecve and through a link of another name, argv[0], which a caller chooses freely.
static const char *called(int argc, char **argv)
{
	const char *file = base_name(executed());
	return is_shim(file) || argc == 0 ? file : base_name(argv[0]);
}

// headless reports whether an argument can be the option of headless mode, for the tools that have an
// option for it and no command: -p, also in a cluster of letters, or --p...
static bool headless(const struct reprise_start *s)
{
	for (int i = 1; i < s->argc; i++) {
		const char *arg = s->argv[i];
		if (arg[0] == '-' && (arg[1] == '-' ? arg[2] == 'p' : strchr(arg, 'p') != NULL))
			return true;
	}
	return false;
}

// nested reports whether a tool's own run makes the call.
static bool nested(const struct reprise_start *s, const struct tool *tool)
{
	for (const char *const *name = tool->nested; *name; name++)
		if (*value(s->envp, *name))
			return true;
	return false;
}

// reprise_unmanaged reports whether Go would certainly pass the call through and write nothing to
// stderr or the log.
bool reprise_unmanaged(const struct reprise_start *s)
{
	const struct tool *tool = tool_of(called(s->argc, s->argv));
	const char *first = s->argc > 1 ? s->argv[1] : NULL;

	if (!tool || *value(s->envp, "REPRISE_VERBOSE"))
		return false;
	if (strcmp(value(s->envp, "REPRISE_OFF"), "1") == 0)
		return true;
	if (*value(s->envp, "REPRISE_LOG"))
		return false;
	if (s->stdin_tty && s->stdout_tty && !tool->managed && !headless(s))
		return true;
	if (nested(s, tool))
		return true;
	if (!first)
		return s->stdin_tty;
	if (tool->managed && first[0] != '-')
		return !in(tool->managed, first);
	return in(tool->commands, first) || (s->argc == 2 && in(tool->alone, first));
}

// reprise_plain_config reports whether a configuration certainly sets no path and no debug log. A
// configuration with escapes, which can spell a key, is not plain.
bool reprise_plain_config(const char *text, size_t size)
{
	static const char *const words[] = {"path", "debug", "\\u", "\\U", "\\x", NULL};
	for (const char *const *word = words; *word; word++)
		if (memmem(text, size, *word, strlen(*word)))
			return false;
	return true;
}

// plain_in reports whether the configuration below a directory is plain or missing.
static bool plain_in(const char *base, const char *below)
{
	static char text[16384]; // longer files are left to Go
	char path[PATH_MAX];
	struct stat st;
	ssize_t size;
	int fd, n = snprintf(path, sizeof path, "%s%s/reprise/config.toml", base, below);

	// Go resolves ".." by name, the system by directory
	if (n >= (int)sizeof path || strstr(path, "/.."))
		return false;
	if (stat(path, &st) != 0)
		return errno == ENOENT || errno == ENOTDIR;
	if (!S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size = read(fd, text, sizeof text);
	close(fd);
	return size >= 0 && size < (ssize_t)sizeof text && reprise_plain_config(text, size);
}

// plain_config looks for the configuration where Go does (config/paths.go, shim/env.go). If there
// are two homes, both configurations must be plain.
static bool plain_config(char **envp)
{
	char account[PATH_MAX];
	const char *xdg = value(envp, "XDG_CONFIG_HOME"), *home = value(envp, "HOME");

	if (*value(envp, "REPRISE_CONFIG"))
		return false;
	if (xdg[0] == '/')
		return plain_in(xdg, "");
	if (home[0] != '/' || !plain_in(home, "/.config"))
		return false;
	return !reprise_account_home(account) || strcmp(account, home) == 0 || plain_in(account, "/.config");
}

// --- the count of calls ---

// count notes a headless call that is switched off, or made from within a run, as NotePassthrough
// does (ledger/passthrough.go). It makes no directory, and writes nothing that a limit could
// forbid: a call that cannot be written is not counted.
static void count(const struct reprise_start *s, const struct tool *tool)
{
	char path[PATH_MAX], cwd[PATH_MAX], line[PATH_MAX + 256];
	const char *base = value(s->envp, "XDG_STATE_HOME"), *below = "", *first = s->argc > 1 ? s->argv[1] : "";
	bool off = strcmp(value(s->envp, "REPRISE_OFF"), "1") == 0;
	struct rlimit size;
	struct timespec now;
	struct stat st;
	int fd, n;

	if (!(off || nested(s, tool)) || in(tool->commands, first) || !(tool->managed ? in(tool->managed, first) : headless(s)))
		return;
	if (base[0] != '/')
		base = value(s->envp, "HOME"), below = "/.local/state";
	n = snprintf(path, sizeof path, "%s%s/reprise/ledger.db.passed", base, below);
	if (base[0] != '/' || n >= (int)sizeof path || !getcwd(cwd, sizeof cwd))
		return;
	for (const char *c = cwd; *c; c++)
		if ((unsigned char)*c < ' ' || *c == '"' || *c == '\\')
			return; // JSON would need escapes
	if (getrlimit(RLIMIT_FSIZE, &size) != 0 || size.rlim_cur != RLIM_INFINITY || clock_gettime(CLOCK_REALTIME, &now) != 0)
		return;
	n = snprintf(line, sizeof line, "{\"Tool\":\"%s\",\"Cwd\":\"%s\",\"Reason\":\"%s\",\"When\":%lld}\n", tool->name, cwd,
		off ? "switched_off" : "nested", (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size < 64 << 10)
		(void)!write(fd, line, n);
	close(fd);
}

// --- the account ---

// reprise_account_home finds the home directory of this user's account. On Linux it reads
// /etc/passwd itself, since getpwuid does not work reliably in a static binary.
bool reprise_account_home(char home[PATH_MAX])
{
	struct passwd *entry = NULL;
#ifdef __linux__
	FILE *f = fopen("/etc/passwd", "re");
	if (f) {
		while ((entry = fgetpwent(f)) && entry->pw_uid != geteuid())
			;
		fclose(f);
	}
#else
	entry = getpwuid(geteuid());
#endif
	return entry && entry->pw_dir && entry->pw_dir[0] == '/' &&
		snprintf(home, PATH_MAX, "%s", entry->pw_dir) < PATH_MAX;
}

// --- the guard ---

// listed reports whether a list, separated by commas, contains an ID.
static bool listed(const char *list, const char *id)
{
	size_t n = strlen(id);
	for (const char *at = list; (at = strstr(at, id)); at++)
		if ((at == list || at[-1] == ',') && (at[n] == ',' || !at[n]))
			return true;
	return false;
}

// now returns a monotonic clock in milliseconds.
static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

// reprise_read_guard reads "PID:HOPS:@WHEN,ID,ID". A malformed value is ignored, and so is one too old
// for a loop. Older versions read @WHEN as one of the IDs. The program itself counts as tried,
// unless self is "". Other programs that were tried count for the same process. It counts for a
// child only from the second hop on: before, the tool might just run itself by its name; a wrapper
// that runs the shim as a child comes here again.
void reprise_read_guard(const char *text, long pid, const char *self, struct reprise_guard *g)
{
	const char *hops = strchr(text, ':');
	const char *tried = hops ? strchr(++hops, ':') : NULL;

	g->hops = 0;
	strcpy(g->tried, self);
	if (!tried || strlen(text) >= REPRISE_GUARD_SIZE)
		return;
	if (tried == hops || tried - hops > 4 || strspn(hops, "0123456789") < (size_t)(tried - hops))
		return;
	tried++;
	if (*tried == '@') {
		char *end;
		if (now() - strtoll(tried + 1, &end, 10) > REPRISE_LOOP_MS)
			return;
		tried = *end == ',' ? end + 1 : end;
	}
	g->hops = atoi(hops);
	if (atol(text) != pid && (g->hops < 2 || atol(text) != getppid()))
		return;
	if (!*self || listed(tried, self))
		strcpy(g->tried, tried);
	else if (*tried)
		snprintf(g->tried, sizeof g->tried, "%s,%s", self, tried);
}

// reprise_write_guard writes the guard with one more target.
void reprise_write_guard(const struct reprise_guard *g, const char *id, long pid, char text[2 * REPRISE_GUARD_SIZE])
{
	snprintf(text, 2 * REPRISE_GUARD_SIZE, "%ld:%d:@%lld,%s%s%s", pid, g->hops + 1, now(), g->tried, g->tried[0] ? "," : "", id);
}

// --- finding ---

static void print_id(const struct stat *st, char id[REPRISE_ID_SIZE])
{
	snprintf(id, REPRISE_ID_SIZE, "%llx.%llx", (unsigned long long)st->st_dev, (unsigned long long)st->st_ino);
}

bool reprise_identify(const char *path, char id[REPRISE_ID_SIZE])
{
	struct stat st;
	id[0] = 0;
	if (stat(path, &st) != 0)
		return false;
	print_id(&st, id);
	return true;
}

// reprise_self returns the ID of the running program, even if its file was replaced.
bool reprise_self(char id[REPRISE_ID_SIZE])
{
#ifdef __linux__
	if (reprise_identify("/proc/self/exe", id))
		return true;
#endif
	return reprise_identify(executed(), id); // for systems without /proc
}

// runnable reports whether a shell would run the file, and finds its ID. If a sandbox refuses to answer, an exec will.
static bool runnable(struct reprise_target *t)
{
	struct stat st;
	if (stat(t->path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	print_id(&st, t->id);
	return access(t->path, X_OK) == 0 || errno == EPERM || errno == ENOSYS;
}

// candidate makes a target of the configured path, or of the program of that name in the directory
// that an element of PATH names, and reports whether it is runnable.
static bool candidate(const char *dir, const char *configured, const char *name, struct reprise_target *t)
{
	size_t length = strcspn(dir, ":");
	int n = snprintf(t->path, sizeof t->path, "%.*s/%s", (int)length, dir, name);

	if (dir == configured)
		n = snprintf(t->path, sizeof t->path, "%s", configured);
	else if (length == 0) // an empty element is the working directory
		n = snprintf(t->path, sizeof t->path, "./%s", name);
	return n < (int)sizeof t->path && runnable(t);
}

// reprise_find finds the real binary: the configured path, unless that is "", or the next
// executable of that name on PATH. skip lists the IDs of files that are not. A program behind these
// is next: a wrapper before the shims has led to them. With again, and if there is no other one, it
// is the last of them, which was tried before: a tool can run itself by its name. Files are
// compared by device and inode, never by name. The stack can be small: there is one target only.
bool reprise_find(const char *name, const char *configured, const char *path, const char *skip,
	bool again, struct reprise_target *found)
{
	const char *last = again ? strrchr(skip, ',') : NULL, *end;
	const char *before = NULL, *tried = NULL; // as for candidate
	bool behind = false;

	if (*configured && candidate(configured, configured, name, found)) {
		if (!listed(skip, found->id))
			return true;
		if (last && strcmp(last + 1, found->id) == 0)
			tried = configured;
	}
	for (const char *dir = path; dir; dir = *end ? end + 1 : NULL) {
		end = dir + strcspn(dir, ":");
		if (!candidate(dir, configured, name, found))
			continue;
		if (listed(skip, found->id))
			behind = true;
		else if (behind)
			return true;
		else if (!before)
			before = dir;
		if (last && !tried && strcmp(last + 1, found->id) == 0)
			tried = dir;
	}
	if (!before)
		before = tried;
	if (before && candidate(before, configured, name, found))
		return true;
	*found->path = *found->id = '\0';
	return false;
}

// --- becoming ---

// reprise_is_script reports whether a shell takes a file without "#!" for a script: no NUL is in its first line. It can
// also be a program for another machine.
bool reprise_is_script(const char *path)
{
	char head[128];
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = read(fd, head, sizeof head);
	const char *line = n > 0 ? memchr(head, '\n', n) : NULL;
	close(fd);
	return n <= 0 || !memchr(head, 0, line ? line - head : n);
}

// exec_or_sh runs a program, or like a shell a script without "#!". It returns only if that fails.
static void exec_or_sh(const char *path, int argc, char **argv, char **envp)
{
	char *script[argc + 2];
	execve(path, argv, envp);
	if (errno != ENOEXEC)
		return;
	bool is_script = reprise_is_script(path);
	errno = ENOEXEC;
	if (!is_script)
		return;
	script[0] = "sh";
	script[1] = (char *)path;
	memcpy(script + 2, argv + 1, argc * sizeof *argv); // with the NULL
	execve("/bin/sh", script, envp);
}

// of_store reports whether an entry of the environment can contain the store's password or key, which
// no tool needs. The names are those of config.StoreVariables.
static bool of_store(const char *entry)
{
	static const char *const names[] = {"REPRISE_STORE=", "REPRISE_STORE_KEY=", "REPRISE_STORE_KEY_FILE="};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(entry, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

// run becomes a target, without the store's variables, and with the guard in its environment unless that
// is more than the system allows. Its arrays are about as large as argv and the environment, which are on this stack
// already.
static void run(const struct reprise_start *s, const struct reprise_guard *guard, long pid, const struct reprise_target *target)
{
	static const char name[] = "REPRISE_GUARD=";
	char entry[sizeof name + 2 * REPRISE_GUARD_SIZE];
	size_t n = 0, kept = 0;

	while (s->envp[n])
		n++;
	char *envp[n + 2];
	for (size_t i = 0; i < n; i++)
		if (strncmp(s->envp[i], name, strlen(name)) != 0 && !of_store(s->envp[i]))
			envp[kept++] = s->envp[i];
	strcpy(entry, name);
	reprise_write_guard(guard, target->id, pid, entry + strlen(name));
	envp[kept++] = entry;
	envp[kept] = NULL;
	exec_or_sh(target->path, s->argc, s->argv, envp);
	envp[kept - 1] = NULL;
	if (errno == E2BIG)
		exec_or_sh(target->path, s->argc, s->argv, envp);
}

// passed_over reports whether execvp would try the next program after this error of an exec.
static bool passed_over(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ESTALE || error == EACCES || error == ENOEXEC;
}

// become becomes the real binary, the first that starts. It returns if there is none or it cannot be run; Go then fails
// in the same way, and reports it.
static void become(const struct reprise_start *s, const struct tool *tool)
{
	struct reprise_guard guard;
	struct reprise_target target;
	char self[REPRISE_ID_SIZE];
	const char *path = lookup(s->envp, "PATH");
	long pid = getpid();

	if (!reprise_self(self))
		return;
	reprise_read_guard(value(s->envp, "REPRISE_GUARD"), pid, self, &guard);
	for (bool again = true; guard.hops < REPRISE_MAX_HOPS && strlen(guard.tried) < REPRISE_GUARD_SIZE - 1; again = false) {
		if (!reprise_find(tool->name, "", path ? path : REPRISE_PATH, guard.tried, again, &target))
			return;
		if (again)
			count(s, tool);
		run(s, &guard, pid, &target);
		if (!passed_over(errno))
			return;
		strcat(strcat(guard.tried, ","), target.id);
	}
}

// start_tool runs "reprise-start IGNORED BLOCKED PENDING PATH ARGV...", with all signals blocked: it becomes the program at PATH
// with these signals ignored, blocked and pending, each set in hex: bit 0 is signal 1.
static void start_tool(const struct reprise_start *s)
{
	unsigned long long ignored = strtoull(s->argv[1], NULL, 16), blocked = strtoull(s->argv[2], NULL, 16);
	unsigned long long pending = strtoull(s->argv[3], NULL, 16);
	sigset_t mask;
	sigemptyset(&mask);
	for (int sig = 1; sig <= 64; sig++) {
		if (ignored >> (sig - 1) & 1)
			signal(sig, SIG_IGN);
		if (blocked >> (sig - 1) & 1)
			sigaddset(&mask, sig);
		if (pending >> (sig - 1) & 1)
			kill(getpid(), sig);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	exec_or_sh(s->argv[4], s->argc - 5, s->argv + 5, s->envp);
	fprintf(stderr, "reprise: run %s: %s\n", s->argv[4], strerror(errno));
	_exit(126);
}

// reprise_hide keeps this process from leaving a core dump, which would contain prompts and the store's key, and other programs of
// the user from reading its memory. An exec ends that.
void reprise_hide(void)
{
#ifdef __linux__
	prctl(PR_SET_DUMPABLE, 0);
#endif
}

// reprise_close_others leaves a small process only its first descriptors.
void reprise_close_others(int first)
{
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0U, 0) == 0)
		return;
#endif
	for (int fd = first; fd < 4096; fd++)
		close(fd);
}

#ifdef __linux__
// witness runs "reprise-witness PARENT", which newWitness in Go starts with all signals blocked. As a
// member of the shim's process group it receives the group's signals, and writes each to descriptor
// 0 as a byte. The shim asks with the highest signal, which is delivered after all others; the
// answer is 0. Other signals from the shim are not reported: its SIGCONT only continues the witness. It ends with the shim, or a
// second after the shim has closed its end of the pipe. Its name and directory are not the tool's: some programs count tools by these.
static void witness(const struct reprise_start *s)
{
	const pid_t parent = atoi(s->argv[1]);
	const struct timespec second = {1, 0};
	siginfo_t info = {0};
	sigset_t all;
	sigfillset(&all);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, REPRISE_WITNESS);
	reprise_close_others(1);
	(void)!chdir("/");
	while (getppid() == parent) {
		struct pollfd reports = {.fd = 0};
		int sig = sigtimedwait(&all, &info, &second); // fails after a stop
		if (sig < 0 && poll(&reports, 1, 0) > 0)
			break;
		// at the limit of pending signals (ulimit -i) the highest signal comes without a sender
		bool ours = info.si_pid == parent || (sig == SIGRTMAX && info.si_pid == 0);
		unsigned char report = ours ? 0 : sig;
		if (sig < 0 || (ours && sig != SIGRTMAX))
			continue;
		if (write(0, &report, 1) < 0)
			break;
	}
	_exit(1);
}
#endif

// tight reports whether a limit is so low that Go might not start, or that the shim could not hand
// on a stdin that it has read.
static bool tight(void)
{
	static const struct { int what; rlim_t least; } needs[] = {
		{RLIMIT_NOFILE, 32}, {RLIMIT_NPROC, 64}, {RLIMIT_AS, (rlim_t)2 << 30}, {RLIMIT_DATA, (rlim_t)1 << 30},
	};
	struct rlimit limit;
	for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
		if (getrlimit(needs[i].what, &limit) == 0 && limit.rlim_cur < needs[i].least)
			return true;
	return false;
}

// tty gives go-isatty's answer. musl's isatty uses another ioctl.
static bool tty(int fd)
{
	struct termios t;
	return tcgetattr(fd, &t) == 0;
}

// hide_from_go keeps the variables for the tool, and takes from Go's runtime the variables that
// would make it print or slow it down. It finds the variables, and the system's values behind them,
// by argv.
static void hide_from_go(char **envp)
{
	static const char *const names[] = {"GODEBUG", "GOGC", "GOMEMLIMIT", "GOTRACEBACK", NULL};
	size_t size = sizeof *envp;
	for (char **at = envp; *at; at++)
		size += sizeof *envp;
	char **kept = malloc(size);
	if (!kept)
		return;
	environ = memcpy(kept, envp, size);
	for (char **at = envp; *at; at++)
		for (const char *const *name = names; *name; name++)
			if (strncmp(*at, *name, strlen(*name)) == 0 && (*at)[strlen(*name)] == '=')
				*at = "";
}

const char *reprise_shim;

// Priority 101 runs it before all other constructors of this program.
#if !defined(__linux__) || defined(__GLIBC__)
__attribute__((constructor(101))) static void start(int argc, char **argv, char **envp)
{
#else
// musl passes a constructor no arguments. The system places argc, argv with its NULL and the
// environment one after the other, so argc and argv are found by going back from environ, unless
// the environment has been moved to the heap, which is at lower addresses.
__attribute__((constructor(101))) static void start(void)
{
	char **envp = environ, **argv = environ - 1;
	int argc = 0;
	if ((char *)envp < (char *)&argc)
		return;
	while ((long)argv[-1] != argc)
		argv--, argc++;
#endif
	struct reprise_start s = {.argc = argc, .argv = argv, .envp = envp};
	const char *name = called(argc, argv);
	const struct tool *tool = tool_of(name);
	if (argc > 5 && strcmp(argv[0], REPRISE_START) == 0) {
		reprise_hide();
		start_tool(&s);
	}
#ifdef __linux__
	if (argc == 2 && strcmp(argv[0], REPRISE_WITNESS) == 0)
		witness(&s);
#endif
	if (!is_shim(name))
		return; // shimctl, a test: not called as a shim
	reprise_hide();
	reprise_shim = name;
	s.stdin_tty = tty(0);
	s.stdout_tty = tty(1);
	if (tool && (tight() || reprise_unmanaged(&s)) && (strcmp(value(envp, "REPRISE_OFF"), "1") == 0 || plain_config(envp)))
		become(&s, tool);
	hide_from_go(envp);
}
