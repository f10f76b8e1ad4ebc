package ledger

import (
	"encoding/binary"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A bell's part of the queue's file: a number, and whether anybody may be listening.
const (
	numberAt   = 8
	listenedAt = 12
	bellEnd    = 13
)

// As in linux/futex.h.
const (
	futexWait = 0
	futexWake = 1
)

// A bell is rung when a turn ends, and wakes one of those who wait for theirs: they
// sleep until a number in the queue's file is another one, where the system sees to
// that (futex). Who listens says so before he tries the lock once more: then whoever has
// it is going to ring. Only the system reads the file through the page that is mapped: it
// may be too short for that by then, and we would be killed for it.
type bell struct {
	file *os.File
	page []byte // nil where there can be none: then nobody is woken
}

func bellOf(f *os.File) bell {
	page, err := unix.Mmap(int(f.Fd()), 0, bellEnd, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return bell{}
	}
	return bell{f, page}
}

func (b bell) remove() {
	if b.page != nil {
		_ = unix.Munmap(b.page)
	}
}

// listen gives the number, which is another one after each ring that follows.
func (b bell) listen() uint32 {
	var n [4]byte
	if b.page != nil {
		_, _ = b.file.ReadAt(n[:], numberAt) // 0 where it was never rung
		_, _ = b.file.WriteAt([]byte{1}, listenedAt)
	}
	return binary.NativeEndian.Uint32(n[:])
}

// ring is for when the lock has been given back. Several may ring at a time, so that a
// number which is counted on might come twice.
func ring(f *os.File) {
	listened := []byte{0}
	if _, _ = f.ReadAt(listened, listenedAt); listened[0] == 0 {
		return
	}
	b := bellOf(f)
	defer b.remove()
	if b.page == nil {
		return
	}
	next := append(binary.NativeEndian.AppendUint32(nil, uint32(time.Now().UnixNano())), 0)
	_, _ = f.WriteAt(next, numberAt)
	if woken, _ := b.futex(futexWake, 1, nil); woken > 0 { // there may be more
		_, _ = f.WriteAt([]byte{1}, listenedAt)
	}
}

// wait waits until the number is another one, but not longer than most, and may end
// earlier.
func (b bell) wait(rung uint32, most time.Duration) {
	if b.page != nil {
		timeout := unix.NsecToTimespec(most.Nanoseconds())
		switch _, err := b.futex(futexWait, uintptr(rung), &timeout); err {
		case 0, unix.EAGAIN, unix.EINTR, unix.ETIMEDOUT:
			return
		}
	}
	time.Sleep(min(most, lockPause))
}

func (b bell) futex(what, value uintptr, timeout *unix.Timespec) (uintptr, syscall.Errno) {
	at := unsafe.Pointer(unsafe.SliceData(b.page[numberAt:]))
	n, _, err := syscall.Syscall6(unix.SYS_FUTEX, uintptr(at), what, value, uintptr(unsafe.Pointer(timeout)), 0, 0)
	return n, err
}
