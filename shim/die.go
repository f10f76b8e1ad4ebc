package shim

/*
#include <signal.h>
#include <unistd.h>
#include <sys/resource.h>

// die_by ends this process by a signal, as the tool ended. The Go runtime's own
// handlers would turn some signals into an exit code or a traceback; so this puts
// the system's default action back first. The tool has left the core file already.
static void die_by(int sig) {
	struct rlimit none = {0, 0};
	setrlimit(RLIMIT_CORE, &none);
	struct sigaction action;
	sigset_t set;
	action.sa_handler = SIG_DFL;
	action.sa_flags = 0;
	sigemptyset(&action.sa_mask);
	sigaction(sig, &action, 0);
	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(SIG_UNBLOCK, &set, 0);
	kill(getpid(), sig);
	sleep(1); // it may be another thread that is hit
}
*/
import "C"

// leave ends the shim as the tool ended, and gives the exit code where that was
// one.
func (s status) leave() int {
	if s.signal == 0 {
		return s.exit
	}
	C.die_by(C.int(s.signal))
	return 128 + int(s.signal)
}
