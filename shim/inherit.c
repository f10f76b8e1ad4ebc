// What the tool inherits from our caller, and what a process is born or dies with.
// The Go runtime installs handlers of its own before main: by then nobody can tell
// any more which signals the caller had ignored, and a child that Go starts gets the
// default for most of them. So that is noted before the runtime starts, and the tool
// is started here.
#define _GNU_SOURCE
#include "inherit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>
#ifdef __linux__
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#endif

static char ignored[NSIG];
static sigset_t mask;
static struct rlimit files; // the Go runtime raises this limit
static char closed[3];      // the Go runtime opens what is closed of 0 to 2

__attribute__((constructor)) static void inherit_record(void) {
	struct sigaction was;
	for (int sig = 1; sig < NSIG; sig++)
		ignored[sig] = sigaction(sig, 0, &was) == 0 && was.sa_handler == SIG_IGN;
	sigprocmask(SIG_SETMASK, 0, &mask);
	getrlimit(RLIMIT_NOFILE, &files);
	for (int fd = 0; fd < 3; fd++)
		closed[fd] = fcntl(fd, F_GETFD) < 0 && errno == EBADF;
}

// inherit_closed reports whether the caller has left one of the descriptors 0 to 2 closed.
int inherit_closed(int fd) { return fd >= 0 && fd < 3 && closed[fd]; }

// inherit_close closes it again, for an exec that is to follow.
void inherit_close(void) {
	for (int fd = 0; fd < 3; fd++)
		if (closed[fd]) close(fd);
}

// inherit_ignored tells of a signal that the caller has us ignore.
int inherit_ignored(int sig) { return sig > 0 && sig < NSIG && ignored[sig]; }

// inherit_ignore ignores and blocks what the caller had us ignore and block, for an
// exec in this thread that is to follow.
void inherit_ignore(void) {
	for (int sig = 1; sig < NSIG; sig++)
		if (ignored[sig]) signal(sig, SIG_IGN);
	pthread_sigmask(SIG_SETMASK, &mask, 0);
}

static sigset_t block_all(void) {
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	return old;
}

// restore puts back what the caller had set. All signals are blocked until it is
// done: no handler of ours may run in a child.
static void restore(void) {
	struct sigaction action = {.sa_handler = SIG_DFL};
	for (int sig = 1; sig < NSIG; sig++) {
		action.sa_handler = ignored[sig] ? SIG_IGN : SIG_DFL;
		sigaction(sig, &action, 0);
	}
	setrlimit(RLIMIT_NOFILE, &files);
	pthread_sigmask(SIG_SETMASK, &mask, 0);
}

// die_with ends this child when its parent is killed, or has been by now.
static void die_with(pid_t parent) {
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != parent) _exit(0);
}

// move puts a descriptor in another's place, open for the program to come.
static int move(int from, int to) {
	if (from < 0) return close(to);
	if (from == to) return fcntl(to, F_SETFD, 0);
	return dup2(from, to);
}

// inherit_spawn starts a program with the caller's signals and limits and three
// descriptors of its own, all above 2 or in their place, or -1 for one that is closed.
// It gives 0 or an errno.
int inherit_spawn(const char *path, char *const argv[], char *const envp[], const int fds[3], pid_t *pid) {
	volatile int failed = 0; // the child writes into our memory
	pid_t parent = getpid();
	sigset_t old = block_all();
	pid_t child = vfork();
	if (child == 0) {
		die_with(parent);
		for (int fd = 0; fd < 3; fd++)
			if (move(fds[fd], fd) < 0 && errno != EBADF) {
				failed = errno;
				_exit(127);
			}
		restore();
		execve(path, argv, envp);
		failed = errno;
		_exit(127);
	}
	if (child < 0) failed = errno;
	if (child > 0 && failed) waitpid(child, 0, 0);
	pthread_sigmask(SIG_SETMASK, &old, 0);
	*pid = child;
	return failed;
}

// close_others leaves a child only its first descriptors.
static void close_others(int first) {
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
	for (int fd = first; fd < 4096; fd++) close(fd);
}

// --- signals for the tool ---

static int notes = -1; // where note writes
static struct sigaction faults[NSIG]; // the Go runtime's handlers for what a program does to itself

// note writes down a signal that somebody has sent. A fault of our own is the Go
// runtime's.
static void note(int sig, siginfo_t *info, void *context) {
	int was = errno;
	unsigned char byte = sig;
	if (faults[sig].sa_sigaction && info->si_code > 0) {
		faults[sig].sa_sigaction(sig, info, context);
		return;
	}
	if (write(notes, &byte, 1) < 0) {} // with tens of thousands in it nobody needs one more
	errno = was;
}

// inherit_catch has each of these signals, a list that ends with 0, written to a
// descriptor, a byte each, and unblocks them in this thread. The Go runtime's own way
// takes a switch of threads and back for each of them.
void inherit_catch(const unsigned char *signals, int to) {
	struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	struct sigaction old;
	sigset_t set;
	sigfillset(&action.sa_mask);
	sigemptyset(&set);
	notes = to;
	for (; *signals; signals++) {
		sigaddset(&set, *signals);
		if (sigaction(*signals, &action, &old) != 0 || old.sa_sigaction == note) continue;
		switch (*signals) {
		case SIGILL: case SIGTRAP: case SIGABRT: case SIGBUS: case SIGFPE: case SIGSEGV: case SIGSYS:
			if (old.sa_handler != SIG_IGN && old.sa_handler != SIG_DFL) faults[*signals] = old;
		}
	}
	pthread_sigmask(SIG_UNBLOCK, &set, 0);
}

#ifdef __linux__
// What a witness needs to know. It is all in its own stack.
struct standing {
	pid_t parent;
	int signals, report;
};

static int stand(void *at) {
	const struct standing *s = at;
	struct signalfd_siginfo info;
	die_with(s->parent);
	while (syscall(SYS_read, s->signals, &info, sizeof info) == sizeof info) {
		int ours = (pid_t)info.ssi_pid == s->parent;
		unsigned char byte = ours ? 0 : info.ssi_signo;
		if (ours && info.ssi_signo != (unsigned)SIGRTMAX) continue;
		if (syscall(SYS_write, s->report, &byte, 1) < 0) break;
	}
	_exit(1);
}
#endif

// inherit_witness makes a process that does nothing but stand in our process group
// and report, a byte each, which signals it gets. Asked by the last signal there is,
// which is delivered after all others, it reports 0. Of ours it reports nothing else:
// a SIGCONT from us is there to wake it. It gives -1, or the pid and what is to be
// closed and freed when that process has been waited for.
//
// The process has our memory and our descriptors: a copy of the memory would cost
// more than all else that we do, and it need close nothing that somebody waits for.
// So it must not write anywhere but on its own stack: it makes no call that sets
// errno, as long as all goes well, nor one that a thread can be cancelled in, which
// glibc notes; and it takes its signals from a descriptor since a wait for them does
// fail, with EINTR, whenever it is stopped and continued.
pid_t inherit_witness(int report, int *signals, void **stack) {
#ifdef __linux__
	enum { size = 16 << 10 };
	pid_t parent = getpid(), child = -1;
	sigset_t all, old = block_all();
	sigfillset(&all);
	*signals = signalfd(-1, &all, SFD_CLOEXEC);
	*stack = malloc(size);
	if (*signals >= 0 && *stack) {
		struct standing *s = *stack; // the stack grows down from its end
		*s = (struct standing){parent, *signals, report};
		child = clone(stand, (char *)*stack + size, CLONE_VM | CLONE_FILES | SIGCHLD, s);
	}
	pthread_sigmask(SIG_SETMASK, &old, 0);
	if (child < 0) {
		if (*signals >= 0) close(*signals);
		free(*stack);
	}
	return child;
#else
	return -1;
#endif
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

// leave_two leaves a child two descriptors, as its first.
static void leave_two(int from, int to) {
	from = fcntl(from, F_DUPFD, 3);
	to = fcntl(to, F_DUPFD, 3);
	if (from < 0 || to < 0 || dup2(from, 0) < 0 || dup2(to, 1) < 0) _exit(1);
	close_others(2);
}

// copy copies descriptor 0 to descriptor 1 until its end or until nobody listens.
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

// inherit_feeder makes a process that writes data to a descriptor and copies another to it
// then, as inherit_copier does. It is no child of ours: the program that we become has
// none that it did not start.
int inherit_feeder(const char *data, size_t size, int from, int to) {
	int failed = 0;
	sigset_t old = block_all();
	pid_t child = fork();
	if (child == 0) {
		if ((child = fork()) != 0) _exit(child < 0 ? errno : 0);
		leave_two(from, to);
		if (write_all(1, data, size) == 0) copy();
		_exit(0);
	}
	if (child < 0) failed = errno;
	else while (waitpid(child, &failed, 0) < 0 && errno == EINTR) {}
	pthread_sigmask(SIG_SETMASK, &old, 0);
	return child < 0 ? failed : WIFEXITED(failed) ? WEXITSTATUS(failed) : 0;
}

// inherit_copier makes a process that copies one descriptor to another until its end
// or until nobody listens, and outlives us. It heeds no signal: it ends with those
// that it copies for.
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

// inherit_stop stops this process by a signal, as the tool was stopped, unless the
// tool goes on by now. A SIGCONT that comes later takes the signal back before it has
// stopped us; but for SIGSTOP, which stops us at once.
void inherit_stop(pid_t tool, int sig) {
	struct sigaction action = {.sa_handler = SIG_DFL}, old;
	sigset_t set;
	if (goes_on(tool)) return;
	act(sig, SIG_BLOCK, &set);
	sigaction(sig, &action, &old);
	pthread_kill(pthread_self(), sig);
	if (goes_on(tool)) {
		action.sa_handler = SIG_IGN; // that drops it
		sigaction(sig, &action, 0);
	}
	act(sig, SIG_UNBLOCK, &set);
	sigaction(sig, &old, 0);
}

// inherit_die ends this process by a signal, as the tool ended. The Go runtime's own
// handlers would turn some signals into an exit code or a traceback; so this puts
// the system's default action back first. The tool has left the core already, if
// anybody wants one: ours would have prompts in it, and a limit of 0 alone does not
// keep it from a program that collects cores.
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
	sleep(1); // it may be another thread that is hit
}
