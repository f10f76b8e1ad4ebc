// The traces of how a program was started, written line by line into the file "out": the real
// binary of the tests of the exec path. Started as "probe launch FLAGS FILE ARGV0 ARG..." it is the
// caller instead: it brings itself into a state that is easily lost, and execs.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

extern char **environ;

static FILE *out;

static int launch(char **argv)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGUSR2, SIGTSTP, SIGURG, SIGCHLD, 40};
	const char *flags = argv[0];
	sigset_t blocked;
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigaddset(&blocked, SIGWINCH);
	sigaddset(&blocked, 41);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	raise(SIGUSR1); // pending, across each exec
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){256, 300});
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 4096});
	setrlimit(RLIMIT_STACK, &(struct rlimit){4 << 20, 8 << 20});
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {3600, 0}}, NULL);
	fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK);
	dup2(0, 7);
	umask(027);
	nice(3);
	prctl(PR_SET_TIMERSLACK, 77777);
	if (strchr(flags, 'c')) // a caller that closes unused descriptors
		close(2);
	if (strchr(flags, 'd')) { // and a caller that sets a variable twice, or none
		static char *odd[] = {"PATH=", "A=1", "A=2", "noequals", "=x", "", NULL};
		odd[0] = malloc(strlen(getenv("PATH")) + 6);
		strcat(strcpy(odd[0], "PATH="), getenv("PATH"));
		odd[5] = malloc(strlen(getenv("HOME")) + 6);
		strcat(strcpy(odd[5], "HOME="), getenv("HOME"));
		environ = odd;
	}
	if (strchr(flags, 't')) { // somebody at a terminal
		int terminal = posix_openpt(O_RDWR | O_NOCTTY);
		grantpt(terminal);
		unlockpt(terminal);
		terminal = open(ptsname(terminal), O_RDWR | O_NOCTTY);
		for (int fd = 0; fd < 3; fd++)
			dup2(terminal, fd);
	}
	if (strchr(flags, 'v')) // too little for the Go runtime
		setrlimit(RLIMIT_AS, &(struct rlimit){200 << 20, 200 << 20});
	execv(argv[1], argv + 2);
	perror(argv[1]);
	return 99;
}

static void print_file(const char *path, const char *const *lines)
{
	char line[4096];
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		for (const char *const *want = lines; *want; want++)
			if (strncmp(line, *want, strlen(*want)) == 0)
				fprintf(out, "%s: %s", path, line);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	static const char *const status[] = {"Umask", "PPid", "Uid", "Gid", "Groups", "NoNewPrivs", "Seccomp:", "Cpus_allowed_list",
		"SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt", "Threads", "Name", NULL};
	static const char *const any[] = {"", NULL};
	char cwd[4096];
	struct itimerval timer;
	int pdeath = 0;

	if (argc > 1 && strcmp(argv[1], "launch") == 0)
		return launch(argv + 2);
	if (!(out = fopen("out", "we")))
		return 98;
	for (int i = 0; i < argc; i++)
		fprintf(out, "argv %d: %s\n", i, argv[i]);
	for (char **e = environ; *e; e++)
		fprintf(out, "env: %s\n", *e);
	for (int fd = 0; fd < 300; fd++) {
		struct stat st;
		if (fstat(fd, &st) == 0)
			fprintf(out, "fd %d: mode %o of %lx.%lx, terminal %d, flags %x, %x\n", fd, st.st_mode, (long)st.st_dev,
				isatty(fd) ? 0 : (long)st.st_ino, isatty(fd), fcntl(fd, F_GETFD), fcntl(fd, F_GETFL));
	}
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit r;
		if (getrlimit(i, &r) == 0)
			fprintf(out, "limit %d: %ld %ld\n", i, (long)r.rlim_cur, (long)r.rlim_max);
	}
	print_file("/proc/self/status", status);
	print_file("/proc/self/personality", any);
	print_file("/proc/self/oom_score_adj", any);
	print_file("/proc/self/coredump_filter", any);
	getitimer(ITIMER_REAL, &timer);
	prctl(PR_GET_PDEATHSIG, &pdeath);
	fprintf(out, "cwd %s\n", getcwd(cwd, sizeof cwd));
	fprintf(out, "timer %d, slack %d, dumpable %d, death signal %d, nice %d\n", timer.it_value.tv_sec > 3000,
		prctl(PR_GET_TIMERSLACK), prctl(PR_GET_DUMPABLE), pdeath, getpriority(PRIO_PROCESS, 0));
	fprintf(out, "session %d, group %d, own %d\n", getsid(0), getpgid(0), getpid() == getpgid(0));
	return 7;
}
