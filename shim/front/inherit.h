#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

void inherit_signals(unsigned long long *ignored, unsigned long long *blocked, unsigned long long *pending);
void inherit_default(void);
void inherit_handle(void);
void inherit_restore(void);
sigset_t inherit_block(bool everything);
void inherit_unblock(sigset_t old);
int inherit_closed(int fd);
int inherit_feeder(const char *data, size_t size, int from, int to);
void inherit_stop(pid_t tool, int sig);
void inherit_die(int sig);
