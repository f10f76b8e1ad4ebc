// A tool that shows its arguments and streams, and harms itself as $TOOL says. Started
// as "launch" it becomes another program, as a caller with odd habits would.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#endif

// probe prints all that a program inherits and that /proc or the system can tell.
static int probe(void) {
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		if ((!strncmp(line, "Sig", 3) && line[3] != 'Q') || !strncmp(line, "Shd", 3)) fputs(line, stdout);
	if (f) fclose(f);
	for (int what = 0; what < RLIM_NLIMITS; what++) {
		struct rlimit limit;
		getrlimit(what, &limit);
		printf("limit %d %llx %llx\n", what, (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
	}
	for (int fd = 0; fd < 64; fd++)
		if (fd != 1 && fcntl(fd, F_GETFD) >= 0) printf("fd %d flags %x %x\n", fd, fcntl(fd, F_GETFD), fcntl(fd, F_GETFL));
	mode_t mask = umask(0);
	printf("umask %o nice %d\n", mask, getpriority(PRIO_PROCESS, 0));
#ifdef __linux__
	printf("timers %d\n", prctl(PR_GET_TIMERSLACK));
#endif
	printf("processors %s\n", getenv("GOMAXPROCS") ? getenv("GOMAXPROCS") : "not said");
	return 0;
}

// count prints each signal that comes, until number 50. $FREE names a signal that has its default
// effect.
static int count(void) {
	sigset_t all;
	sigfillset(&all);
	if (getenv("FREE")) sigdelset(&all, atoi(getenv("FREE")));
	sigprocmask(SIG_SETMASK, &all, 0);
	printf("{\"pid\":%d}\n", getpid());
	for (;;) {
		siginfo_t info;
		if (fflush(stdout)) return 1;
		int sig = sigwaitinfo(&all, &info);
		if (sig == 50) return 0;
		if (sig > 0) printf("got %d\n", sig);
	}
}

// deny has the system refuse a call from now on.
static void deny(int number) {
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) exit(99);
}

// launch [-d CALL] [-i SIG] [-b SIG] [-p SIG] [-f N] [-q N] [-c] [-n] PROGRAM ARG...: ignore or block a signal, have it pending,
// limit the number of files or of pending signals, allow cores, make stdin non-blocking.
static int launch(char **argv) {
	for (argv++; *argv && **argv == '-'; argv++) {
		struct rlimit limit;
		sigset_t set;
		switch ((*argv)[1]) {
		case 'i': signal(atoi(*++argv), SIG_IGN); break;
		case 'b':
		case 'p':
			sigemptyset(&set);
			sigaddset(&set, atoi(argv[1]));
			sigprocmask(SIG_BLOCK, &set, 0);
			if ((*argv)[1] == 'p') kill(getpid(), atoi(argv[1]));
			argv++;
			break;
		case 'f':
			getrlimit(RLIMIT_NOFILE, &limit);
			limit.rlim_cur = atoi(*++argv);
			setrlimit(RLIMIT_NOFILE, &limit);
			break;
		case 'q':
			limit.rlim_cur = limit.rlim_max = atoi(*++argv);
			setrlimit(RLIMIT_SIGPENDING, &limit);
			break;
		case 'c':
			limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
			setrlimit(RLIMIT_CORE, &limit);
			break;
		case 'd': deny(atoi(*++argv)); break;
		case 'n': fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK); break;
		}
	}
	execv(argv[0], argv + 1);
	return 126;
}

// flood writes so many bytes, lines or one line without an end, and then waits for
// signal 50.
static int flood(int lines, long left) {
	static char piece[64 << 10];
	sigset_t end;
	sigemptyset(&end);
	sigaddset(&end, 50);
	sigprocmask(SIG_BLOCK, &end, 0);
	printf("{\"pid\":%d}\n", getpid());
	fflush(stdout);
	memset(piece, 'x', sizeof piece);
	for (size_t i = 199; lines && i < sizeof piece; i += 200) piece[i] = '\n';
	for (; left > 0; left -= sizeof piece)
		if (fwrite(piece, 1, sizeof piece, stdout) == 0) return 1;
	printf("\nend\n");
	fflush(stdout);
	return sigwaitinfo(&end, 0) == 50 ? 0 : 1;
}

static void leave(int sig) { _exit(7); }

// handle writes $LINE on and on until it is asked to end, which it does at once in a way of its own.
static int handle(void) {
	char line[1024];
	int size = snprintf(line, sizeof line, "%s\n", getenv("LINE") ? getenv("LINE") : "{}");
	struct sigaction action = {.sa_handler = leave};
	sigaction(SIGTERM, &action, 0);
	close(creat("up", 0600));
	while (write(1, line, size) > 0) {}
	return 1;
}

int main(int argc, char **argv) {
	char *does = getenv("TOOL"), *name = strrchr(argv[0], '/');
	if (!strcmp(name ? name + 1 : argv[0], "launch")) return launch(argv);
	if (!does) return 2;
	if (!strcmp(does, "probe")) return probe();
	if (!strcmp(does, "count")) return count();
	if (!strcmp(does, "handle")) return handle();
	if (!strcmp(does, "sleep")) return usleep(50000);
	if (!strcmp(does, "read")) {
		char piece[4096];
		int n;
		while ((n = read(0, piece, sizeof piece)) > 0) {}
		return n < 0 ? 3 : 0;
	}
	if (!strncmp(does, "lines ", 6)) return flood(1, atol(does + 6));
	if (!strncmp(does, "line ", 5)) return flood(0, atol(does + 5));
	if (!strncmp(does, "exit ", 5)) return atoi(does + 5);
	if (!strncmp(does, "die ", 4)) {
		struct rlimit none = {0, 0};
		setrlimit(RLIMIT_CORE, &none);
		kill(getpid(), atoi(does + 4));
		sleep(5);
	}
	return 2;
}
