// Package watch follows files that a tool writes while it runs, and hands on what
// is new in them: whole lines as a file grows, or a whole file each time its
// content is another.
//
// It never writes, locks or removes a file that it follows, never follows a
// symbolic link below a followed directory, and never hands on what was there before
// it began.
//
// Its invariant: what is new in the followed files when Stop is called has been handed on,
// in the order of each file, when Stop returns. Its own look at every file sees
// to that, by comparing identity, size and time with what Start noted. Events of
// the file system only make things known earlier: they may be late, lost or not to
// be had at all. So only the directories that changed last are watched.
//
// Start and Stop walk once each through what is followed. That took 0.2 ms with 10
// files, 45 ms with 10 000 rollout files in dated directories, 110 ms with 10 000 session
// directories of one file each (BenchmarkStartStop, two shared cores, warm cache): the
// directory to be followed should be chosen as narrow as it is known. A narrow name
// saves the look at each file.
package watch
