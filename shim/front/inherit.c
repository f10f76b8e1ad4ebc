// The signals and descriptors that the tool inherits from the caller, and how this process stops
// and ends. Each part needs C:
//
// - The Go runtime installs signal handlers before main, and opens closed descriptors 0 to 2. So
//   the signals that the caller ignores and blocks, and the descriptors that it has closed, are
//   recorded before the runtime starts, and Go's handlers wait until the tool runs.
// - Go's handlers turn some deaths by a signal into an exit code or a traceback. So the default
//   action is restored before the process stops or dies by a signal.
// - The witness, and processes that copy a stream, must block all signals from their start, the
//   tool the signals that the caller blocks. Go cannot block signals in a child.
#define _GNU_SOURCE
#include "exec.h"
#include "inherit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

static char ignored[NSIG];
static sigset_t mask;
static char closed[3]; // descriptors 0 to 2 that were closed at the start
static volatile sig_atomic_t arrived[NSIG]; // signals that the caller blocks and the tool has not got yet
static struct sigaction gos[NSIG];          // Go's handlers

static bool blocks(int sig) { return sigismember(&mask, sig) > 0; }

static void note(int sig) { arrived[sig]++; }

// as_caller gives a signal the effect that it would have on the tool. Go unblocks signals, so a
// signal that the caller blocks is noted.
static void as_caller(int sig) {
	struct sigaction action = {.sa_handler = ignored[sig] ? SIG_IGN : blocks(sig) ? note : SIG_DFL, .sa_flags = SA_ONSTACK | SA_RESTART};
	sigaction(sig, &action, 0);
}

#ifdef __linux__
static bool holding; // Go's handlers are only stored

int __sigaction(int sig, const struct sigaction *action, struct sigaction *old);

// sigaction takes the place of the C library's, which the Go runtime calls for each of its handlers when it starts. Until inherit_default
// a shim stores them, and signals have the effect that they would have on the tool.
int sigaction(int sig, const struct sigaction *action, struct sigaction *old) {
	if (!holding || !action || sig < 1 || sig >= NSIG) return __sigaction(sig, action, old);
	gos[sig] = *action;
	return old ? __sigaction(sig, 0, old) : 0;
}

// hold prepares the start of Go, which would unblock signals and install its handlers.
static void hold(void) {
	const struct timespec none = {0, 0};
	for (int sig; (sig = sigtimedwait(&mask, 0, &none)) > 0;) note(sig);
	for (int sig = 1; sig < NSIG; sig++)
		if (blocks(sig) && sig != SIGCHLD && sig != SIGURG) as_caller(sig); // the shim's children and threads send these
	holding = true;
}
#endif

__attribute__((constructor)) static void inherit_record(void) {
	struct sigaction was;
	for (int sig = 1; sig < NSIG; sig++)
		ignored[sig] = sigaction(sig, 0, &was) == 0 && was.sa_handler == SIG_IGN;
	sigprocmask(SIG_SETMASK, 0, &mask);
	for (int fd = 0; fd < 3; fd++)
		closed[fd] = fcntl(fd, F_GETFD) < 0 && errno == EBADF;
#ifdef __linux__
	if (reprise_shim) hold();
#endif
}

// inherit_closed reports whether a descriptor from 0 to 2 was closed when the shim was started.
int inherit_closed(int fd) { return fd >= 0 && fd < 3 && closed[fd]; }

// inherit_signals returns the signals that the caller ignores, the signals that it blocks, and the
// blocked ones that have arrived. Bit 0 is signal 1.
void inherit_signals(unsigned long long *all_ignored, unsigned long long *blocked, unsigned long long *pending) {
	*all_ignored = *blocked = *pending = 0;
	for (int sig = 1; sig <= 64 && sig < NSIG; sig++) {
		if (ignored[sig]) *all_ignored |= 1ULL << (sig - 1);
		if (blocks(sig)) *blocked |= 1ULL << (sig - 1);
		if (arrived[sig]) *pending |= 1ULL << (sig - 1);
	}
}

// faulty are the signals of errors in this program. Go makes a panic of them, which the shim survives.
static bool faulty(int sig) { return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE; }

// fault leaves an error in this program to Go. A signal that another process has sent has the
// effect that it would have on the tool.
static void fault(int sig, siginfo_t *info, void *context) {
	if (info->si_code > 0) gos[sig].sa_sigaction(sig, info, context);
	else if (blocks(sig)) note(sig);
	else if (!ignored[sig]) inherit_die(sig);
}

// inherit_default gives signals the effect that they would have on the tool, until inherit_handle.
// Go needs handlers for its own faults, for writes that fail, to see the end of children, and to
// interrupt threads (SIGURG).
void inherit_default(void) {
	struct sigaction now;
#ifdef __linux__
	holding = false;
#endif
	reprise_hide();
	for (int sig = 1; sig < NSIG; sig++) {
		if (sigaction(sig, 0, &now) == 0 && now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN && now.sa_handler != note) {
			gos[sig] = now; // this Go did not ask the C library
			as_caller(sig);
		}
		if (gos[sig].sa_handler == SIG_DFL) continue;
		now = gos[sig];
		if (faulty(sig)) now.sa_sigaction = fault;
		if (faulty(sig) || sig == SIGCHLD || sig == SIGPIPE || sig == SIGXFSZ || sig == SIGURG) sigaction(sig, &now, 0);
	}
}

// inherit_handle gives signals to Go, except those that it never passes on.
void inherit_handle(void) {
	for (int sig = 1; sig <= 31; sig++)
		if (gos[sig].sa_handler != SIG_DFL && sig != SIGPROF) sigaction(sig, &gos[sig], 0);
}

// inherit_block has this thread block the signals that the tool is to block from its start: those
// that the caller blocks, or all. It returns the thread's own mask.
sigset_t inherit_block(bool everything) {
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, everything ? &all : &mask, &old);
	return old;
}

void inherit_unblock(sigset_t old) { pthread_sigmask(SIG_SETMASK, &old, 0); }

// inherit_restore ignores and blocks the same signals, and closes the same descriptors, before an
// exec in this thread. A signal that has arrived meanwhile is pending again.
void inherit_restore(void) {
	inherit_block(false);
	for (int sig = 1; sig < NSIG; sig++) {
		if (sig != SIGKILL && sig != SIGSTOP) as_caller(sig);
		for (; arrived[sig] > 0; arrived[sig]--) pthread_kill(pthread_self(), sig);
	}
	for (int fd = 0; fd < 3; fd++)
		if (closed[fd]) close(fd);
}

// write_all writes to a descriptor that might be non-blocking.
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
// it, until the end or until no process reads it. It outlives the shim and blocks all signals. It is
// no child of the shim, which can become a program that expects no children. All that can fail is
// done by its parent, which returns the errno as the exit code; a caller that ignores SIGCHLD would
// hide that code.
int inherit_feeder(const char *data, size_t size, int from, int to) {
	struct sigaction keep = {.sa_handler = SIG_DFL}, was;
	int status = 0, failed = 0;
	sigset_t old = inherit_block(true);
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
	inherit_unblock(old);
	if (failed) return failed;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EAGAIN;
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
// default action. It leaves no core dump, which would contain prompts, whether reprise_hide works or not.
void inherit_die(int sig) {
	struct rlimit none = {0, 0};
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t set;
	setrlimit(RLIMIT_CORE, &none);
	sigaction(sig, &action, 0);
	act(sig, SIG_UNBLOCK, &set);
	kill(getpid(), sig);
	sleep(1); // the signal might be delivered to another thread
}
