// A driver for exec.c: it reads cases from stdin and prints an answer for each, so
// that a Go test can compare, and sanitizers can watch. Every string of a case is an
// allocation of its own size. A case is a line "KIND A B COUNT COUNT", then as many
// strings, each ended by NUL, as the answer is.
#include "../front/exec.c"

static char **strings(int n)
{
	char **list = calloc(n + 1, sizeof *list);
	for (int i = 0; i < n; i++) {
		size_t room = 0;
		if (getdelim(&list[i], &room, 0, stdin) < 0)
			exit(2);
		list[i] = realloc(list[i], strlen(list[i]) + 1);
	}
	return list;
}

static void drop(char **list)
{
	for (char **s = list; *s; s++)
		free(*s);
	free(list);
}

int main(void)
{
	char kind;
	int a, b, n, m;
	while (scanf(" %c %d %d %d %d", &kind, &a, &b, &n, &m) == 5 && getchar() == '\n') {
		char **args = strings(n), **envp = strings(m);
		if (kind == 'u') {
			struct reprise_start s = {n, args, envp, a, b};
			printf("%d", reprise_unmanaged(&s));
		} else if (kind == 'c') {
			printf("%d", reprise_plain_config(args[0], strlen(args[0])));
		} else if (kind == 'f') {
			struct reprise_target found;
			bool ok = reprise_find(args[0], args[1], args[2], args[3], false, &found);
			printf("%s", ok ? found.path : "");
		} else if (kind == 'g') {
			struct reprise_guard g;
			char value[2 * REPRISE_GUARD_SIZE];
			reprise_read_guard(args[0], a, args[1], &g);
			reprise_write_guard(&g, args[2], a, value);
			printf("%s", value);
		}
		putchar(0);
		fflush(stdout);
		drop(args);
		drop(envp);
	}
	return 0;
}
