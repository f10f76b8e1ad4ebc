#include <sys/types.h>

int inherit_ignored(int sig);
void inherit_ignore(void);
int inherit_closed(int fd);
void inherit_close(void);
int inherit_spawn(const char *path, char *const argv[], char *const envp[], const int fds[3], pid_t *pid);
void inherit_catch(const unsigned char *signals, int to);
pid_t inherit_witness(int report, int *signals, void **stack);
int inherit_feeder(const char *data, size_t size, int from, int to);
int inherit_copier(int from, int to);
void inherit_stop(pid_t tool, int sig);
void inherit_die(int sig);
