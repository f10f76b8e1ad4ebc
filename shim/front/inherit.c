// What the tool inherits from the caller, and how this process stops and ends. Each part needs C:
//
// - The Go runtime installs signal handlers before main, and opens closed descriptors 0 to 2. So
//   what the caller ignores and has closed is recorded before the runtime starts.
// - Go's handlers turn some deaths by a signal into an exit code or a traceback. So the default
//   action is restored before the process stops or dies by a signal.
// - The witness, and processes that copy a stream, must block all signals from their start. Go
//   cannot block signals in a child.
#define _GNU_SOURCE
#include "exec.h"
#include "inherit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

static char ignored[NSIG];
static sigset_t mask;
static char closed[3]; // descriptors 0 to 2 that were closed at the start

__attribute__((constructor)) static void inherit_record(void) {
	struct sigaction was;
	for (int sig = 1; sig < NSIG; sig++)
		ignored[sig] = sigaction(sig, 0, &was) == 0 && was.sa_handler == SIG_IGN;
	sigprocmask(SIG_SETMASK, 0, &mask);
	for (int fd = 0; fd < 3; fd++)
		closed[fd] = fcntl(fd, F_GETFD) < 0 && errno == EBADF;
}

// inherit_closed reports whether a descriptor from 0 to 2 was closed when the shim was started.
int inherit_closed(int fd) { return fd >= 0 && fd < 3 && closed[fd]; }

// inherit_signals returns the signals that the caller ignores and blocks. Bit 0 is signal 1.
void inherit_signals(unsigned long long *all_ignored, unsigned long long *blocked) {
	*all_ignored = *blocked = 0;
	for (int sig = 1; sig <= 64 && sig < NSIG; sig++) {
		if (ignored[sig]) *all_ignored |= 1ULL << (sig - 1);
		if (sigismember(&mask, sig) > 0) *blocked |= 1ULL << (sig - 1);
	}
}

// lethal are signals that would end the tool. Until Go is asked for them, it ignores some and prints a traceback for others. Go
// unblocks the first ones, even if the caller blocks them.
static const int lethal[] = {SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM};
enum { unblocked = 5, lethals = sizeof lethal / sizeof *lethal };
static struct sigaction gos[lethals]; // Go's handlers

// inherit_default has these signals end this process, or do nothing if the caller blocks them, until inherit_handle gives them to
// Go's handlers again.
void inherit_default(void) {
	for (int i = 0; i < lethals; i++) {
		bool blocked = sigismember(&mask, lethal[i]) > 0;
		struct sigaction action = {.sa_handler = blocked ? SIG_IGN : SIG_DFL};
		if (!ignored[lethal[i]] && (!blocked || i < unblocked)) sigaction(lethal[i], &action, &gos[i]);
	}
}

void inherit_handle(void) {
	for (int i = 0; i < lethals; i++)
		if (gos[i].sa_handler != SIG_DFL) sigaction(lethal[i], &gos[i], 0);
}

// inherit_restore ignores and blocks the same signals and closes the same descriptors again, before an exec in this thread.
void inherit_restore(void) {
	pthread_sigmask(SIG_SETMASK, &mask, 0);
	for (int sig = 1; sig < NSIG; sig++)
		if (ignored[sig]) signal(sig, SIG_IGN);
	for (int i = 0; i < unblocked; i++)
		if (!ignored[lethal[i]]) signal(lethal[i], SIG_DFL);
	for (int fd = 0; fd < 3; fd++)
		if (closed[fd]) close(fd);
}

static sigset_t block_all(void) {
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	return old;
}

// inherit_witness starts this program as the witness (witness in exec.c), which reports on the
// given descriptor. It returns the pid, or -1.
pid_t inherit_witness(int report) {
	pid_t pid = -1;
#ifdef __linux__
	char parent[20], *argv[] = {REPRISE_WITNESS, parent, 0}, *envp[] = {0};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t all;
	snprintf(parent, sizeof parent, "%d", (int)getpid());
	sigfillset(&all);
	if (posix_spawn_file_actions_init(&files) != 0) return -1;
	if (posix_spawnattr_init(&how) == 0) {
		if (posix_spawn_file_actions_adddup2(&files, report, 0) != 0 || posix_spawnattr_setsigmask(&how, &all) != 0 ||
			posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK) != 0 ||
			posix_spawn(&pid, "/proc/self/exe", &files, &how, argv, envp) != 0)
			pid = -1;
		posix_spawnattr_destroy(&how);
	}
	posix_spawn_file_actions_destroy(&files);
#endif
	return pid;
}

// write_all writes to a descriptor that may be non-blocking.
static int write_all(int fd, const char *data, ssize_t size) {
	while (size > 0) {
		ssize_t n = write(fd, data, size);
		if (n > 0) {
			data += n;
			size -= n;
		} else if (errno == EAGAIN) {
			struct pollfd room = {.fd = fd, .events = POLLOUT};
			poll(&room, 1, -1);
		} else if (errno != EINTR) {
			return -1;
		}
	}
	return 0;
}

// leave_two makes two descriptors a child's 0 and 1, and closes all others. It needs no free
// descriptor: to is never 0, so the first dup2 does not close it.
static void leave_two(int from, int to) {
	if (dup2(from, 0) < 0 || dup2(to, 1) < 0) _exit(errno);
	reprise_close_others(2);
}

// copy copies descriptor 0 to descriptor 1 until the end or until no process reads it.
static void copy(void) {
	static char buf[64 << 10];
	struct pollfd ends[2] = {{.fd = 0, .events = POLLIN}, {.fd = 1}};
	for (;;) {
		if (poll(ends, 2, -1) < 0) {
			if (errno == EINTR) continue;
			return;
		}
		if (ends[1].revents & (POLLERR | POLLHUP)) return;
		if (!ends[0].revents) continue;
		ssize_t n = read(0, buf, sizeof buf);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return;
		if (n > 0 && write_all(1, buf, n) < 0) return;
	}
}

// inherit_feeder starts a process that writes data to one descriptor and then copies another to
// it. The process is no child of the shim, which becomes a program that expects no children. All
// that can fail is done by its parent, whose exit code is the errno; a caller that ignores SIGCHLD
// would hide that code.
int inherit_feeder(const char *data, size_t size, int from, int to) {
	struct sigaction keep = {.sa_handler = SIG_DFL}, was;
	int status = 0, failed = 0;
	sigset_t old = block_all();
	sigaction(SIGCHLD, &keep, &was);
	pid_t child = fork();
	if (child == 0) {
		leave_two(from, to);
		if ((child = fork()) != 0) _exit(child < 0 ? errno : 0);
		if (write_all(1, data, size) == 0) copy();
		_exit(0);
	}
	if (child < 0) failed = errno;
	else while (waitpid(child, &status, 0) < 0 && !failed)
		if (errno != EINTR) failed = errno;
	sigaction(SIGCHLD, &was, 0);
	pthread_sigmask(SIG_SETMASK, &old, 0);
	if (failed) return failed;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EAGAIN;
}

// inherit_copier starts a process that copies one descriptor to another until the end or until
// no process reads it. It outlives the shim and blocks all signals. Other than inherit_feeder it
// leaves SIGCHLD alone, which may come from the tool meanwhile.
int inherit_copier(int from, int to) {
	sigset_t old = block_all();
	pid_t child = fork();
	if (child == 0) {
		leave_two(from, to);
		copy();
		_exit(0);
	}
	pthread_sigmask(SIG_SETMASK, &old, 0);
	return child < 0 ? errno : 0;
}

static void act(int sig, int how, sigset_t *set) {
	sigemptyset(set);
	sigaddset(set, sig);
	pthread_sigmask(how, set, 0);
}

static int goes_on(pid_t tool) {
	siginfo_t info = {.si_pid = 0};
	return waitid(P_PID, tool, &info, WCONTINUED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

// inherit_stop stops this process by a signal, as the tool was stopped, unless the tool has been
// continued since. A SIGCONT that comes later cancels the pending signal, except SIGSTOP, which
// stops at once.
void inherit_stop(pid_t tool, int sig) {
	struct sigaction action = {.sa_handler = SIG_DFL}, old;
	sigset_t set;
	if (goes_on(tool)) return;
	act(sig, SIG_BLOCK, &set);
	sigaction(sig, &action, &old);
	pthread_kill(pthread_self(), sig);
	if (goes_on(tool)) {
		action.sa_handler = SIG_IGN; // discards the pending signal
		sigaction(sig, &action, 0);
	}
	act(sig, SIG_UNBLOCK, &set);
	sigaction(sig, &old, 0);
}

// inherit_die ends this process by a signal, as the tool ended, after restoring the signal's
// default action. It leaves no core dump, which would contain prompts. A limit of 0 alone does
// not prevent one if a program collects core dumps.
void inherit_die(int sig) {
	struct rlimit none = {0, 0};
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t set;
	setrlimit(RLIMIT_CORE, &none);
#ifdef __linux__
	prctl(PR_SET_DUMPABLE, 0);
#endif
	sigaction(sig, &action, 0);
	act(sig, SIG_UNBLOCK, &set);
	kill(getpid(), sig);
	sleep(1); // the signal may be delivered to another thread
}
