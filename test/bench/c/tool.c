// A stand-in for Claude Code that takes no time: --version, or a run in stream-json
// with as many bytes of events as BENCH_BYTES says, in a session that it keeps. New ones
// are all links to one file: where a run before has left thousands of files to be deleted,
// a new one takes some file systems longer than all else.
//
// With BENCH_REAL it has a real tool's size instead: a run in text that takes 400 ms, uses 100 MB
// and writes a session of 500 KB as it goes.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *value(int argc, char **argv, const char *option, const char *other)
{
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], option) == 0)
			return argv[i + 1];
	return other;
}

static int real_size(int argc, char **argv)
{
	static char filler[5000], cwd[2048], path[8192], when[40];
	const char *id = value(argc, argv, "--session-id", "00000000-0000-4000-8000-000000000000");
	size_t size = 100 << 20;
	char *memory = malloc(size);
	time_t now = time(NULL) + 1;
	FILE *session;

	if (!memory || !getcwd(cwd, sizeof cwd))
		return 1;
	for (char *c = cwd; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '-';
	snprintf(path, sizeof path, "%s/.claude/projects/%s", getenv("HOME"), cwd);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/.claude/projects/%s/%s.jsonl", getenv("HOME"), cwd, id);
	if (!(session = fopen(path, "a")))
		return 1;
	memset(filler, 'x', sizeof filler - 1);
	strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S.000Z", gmtime(&now));
	for (int i = 0; i < 100; i++) {
		memset(memory + i * (size / 100), 1, size / 100);
		fprintf(session,
			"{\"type\":\"user\",\"timestamp\":\"%s\",\"sessionId\":\"%s\","
			"\"message\":{\"content\":\"%s\"}}\n", when, id, filler);
		fflush(session);
		usleep(3000);
	}
	fprintf(session,
		"{\"type\":\"assistant\",\"timestamp\":\"%s\",\"uuid\":\"%s\",\"sessionId\":\"%s\","
		"\"version\":\"9.9.9\",\"message\":{\"id\":\"m\",\"model\":\"bench\","
		"\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}}\n", when, id, id);
	fclose(session);
	usleep(50000); // before the answer, and at the end
	puts("ok");
	fflush(stdout);
	usleep(50000);
	return 0;
}

int main(int argc, char **argv)
{
	static char filler[1000], first[4096], path[4096], id[40], buf[65536];
	const char *bytes = getenv("BENCH_BYTES"), *resumed;
	long long left = bytes ? atoll(bytes) : 0;
	struct stat st;
	FILE *session;

	if (argc > 1 && strcmp(argv[1], "--version") == 0)
		return puts("9.9.9 (bench)") < 0;
	snprintf(id, sizeof id, "00000000-0000-4000-8000-%012d", getpid());
	snprintf(first, sizeof first, "%s/.claude/projects/bench/first", getenv("HOME"));
	if ((resumed = value(argc, argv, "--resume", NULL)))
		snprintf(id, sizeof id, "%s", resumed);
	if (!isatty(0))
		while (read(0, buf, sizeof buf) > 0)
			;
	for (int i = 0; i < 3; i++) {
		static const char *const dirs[] = {"/.claude", "/.claude/projects", "/.claude/projects/bench"};
		snprintf(path, sizeof path, "%s%s", getenv("HOME"), dirs[i]);
		mkdir(path, 0700);
	}
	if (getenv("BENCH_REAL"))
		return real_size(argc, argv);
	snprintf(path, sizeof path, "%s/.claude/projects/bench/%s.jsonl", getenv("HOME"), id);
	if (resumed && stat(path, &st) == 0 && st.st_nlink > 1)
		unlink(path); // from here on it has a file of its own
	if ((resumed || link(first, path) != 0) && (session = fopen(path, "a"))) {
		fputs("{}\n", session);
		fclose(session);
		link(path, first);
	}
	setvbuf(stdout, buf, _IOFBF, sizeof buf);
	printf("{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"%s\",\"claude_code_version\":\"9.9.9\"}\n", id);
	printf("{\"type\":\"assistant\",\"message\":{\"model\":\"bench\",\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]},\"session_id\":\"%s\"}\n", id);
	fflush(stdout);
	memset(filler, 'x', sizeof filler - 1);
	while (left > 0) {
		int n = printf("{\"type\":\"user\",\"message\":{\"content\":\"%s\"},\"session_id\":\"%s\"}\n", filler, id);
		if (n < 0)
			return 1;
		left -= n;
	}
	printf("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"ok\",\"num_turns\":1,\"session_id\":\"%s\"}\n", id);
	return 0;
}
