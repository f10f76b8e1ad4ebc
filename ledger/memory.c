// Memory for SQLite, for as much as a call needs. What SQLite takes for a statement it
// gives back right after it, and a C library that hands each page back to the system
// at once (musl) has every processor told of it: that took longer than the statements.
// Here what is given back is kept for the next. What is too large or too much comes
// from the C library.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// As in sqlite3.h, which cgo keeps to the package that has it.
struct sqlite3_mem_methods {
	void *(*xMalloc)(int);
	void (*xFree)(void *);
	void *(*xRealloc)(void *, int);
	int (*xSize)(void *);
	int (*xRoundup)(int);
	int (*xInit)(void *);
	void (*xShutdown)(void *);
	void *pAppData;
};
int sqlite3_config(int, ...);
enum { SQLITE_CONFIG_MALLOC = 4 };

// Before each piece stands this. The pieces of the arena are powers of two.
struct piece {
	size_t size;        // with this
	struct piece *next; // of those of its size that are free
};

enum { least = 5, most = 17 }; // the powers

static char arena[1 << 20] __attribute__((aligned(16)));
static size_t taken;
static struct piece *spare[most + 1];
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static int power_of(size_t size) {
	int power = least;
	while ((size_t)1 << power < size) power++;
	return power;
}

// room is how much is taken for so many bytes.
static size_t room(int n) {
	size_t size = ((size_t)n + sizeof(struct piece) + 15) & ~(size_t)15;
	return size <= (size_t)1 << most ? (size_t)1 << power_of(size) : size;
}

// from_arena gives a piece of that size, NULL where there is none.
static struct piece *from_arena(size_t size) {
	struct piece *p = NULL;
	int power = power_of(size);
	if (power > most) return NULL;
	pthread_mutex_lock(&turn);
	if (spare[power]) {
		p = spare[power];
		spare[power] = p->next;
	} else if (size <= sizeof arena - taken) {
		p = (struct piece *)(arena + taken);
		taken += size;
	}
	pthread_mutex_unlock(&turn);
	return p;
}

static void *take(int n) {
	size_t size = room(n);
	struct piece *p = from_arena(size);
	if (!p) p = malloc(size);
	if (!p) return NULL;
	p->size = size;
	return p + 1;
}

static void give(void *at) {
	struct piece *p = (struct piece *)at - 1;
	int power;
	if ((char *)p < arena || (char *)p >= arena + sizeof arena) {
		free(p);
		return;
	}
	power = power_of(p->size);
	pthread_mutex_lock(&turn);
	p->next = spare[power];
	spare[power] = p;
	pthread_mutex_unlock(&turn);
}

static int size_of(void *at) { return (int)(((struct piece *)at - 1)->size - sizeof(struct piece)); }

static void *resize(void *at, int n) {
	void *to;
	if (n <= size_of(at)) return at;
	if (!(to = take(n))) return NULL;
	memcpy(to, at, size_of(at));
	give(at);
	return to;
}

static int round_up(int n) { return (int)(room(n) - sizeof(struct piece)); }

static int begin(void *unused) { return 0; }
static void end(void *unused) {}

__attribute__((constructor)) static void give_sqlite_memory(void) {
	static const struct sqlite3_mem_methods methods = {take, give, resize, size_of, round_up, begin, end, NULL};
	sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}
