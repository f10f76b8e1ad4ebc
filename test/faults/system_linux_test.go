package faults

import (
	"os"
	"path/filepath"
	"syscall"
)

// unprivileged lets calls run as a user for whom file modes are enforced.
func (w *world) unprivileged() {
	if os.Getuid() != 0 {
		return
	}
	const nobody = 65534
	w.must(filepath.WalkDir(w.Root, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	}))
	w.User = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// fill makes a call while the ledger's disk has room for so many pages.
func (w *world) fill(pages int) {
	w.must(os.MkdirAll(w.state(""), 0o700))
	if err := syscall.Mount("tmpfs", w.state(""), "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		w.skip(err)
		return
	}
	defer func() { _ = syscall.Unmount(w.state(""), syscall.MNT_DETACH) }()
	w.use()
	room := make([]byte, 4096)
	filler, err := os.Create(w.state("filler"))
	w.must(err)
	for err == nil {
		_, err = filler.Write(room)
	}
	info, err := filler.Stat()
	w.must(err)
	w.must(filler.Truncate(max(0, (info.Size()/4096-int64(pages))*4096)))
	w.must(filler.Close())
	w.call(call{prompt: job(1)})
	w.call(call{prompt: job(2)})
	w.must(os.Remove(w.state("filler")))
	w.whole()
}
