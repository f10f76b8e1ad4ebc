package config

// Version and Commit are stamped by the linker (see install.sh). They are the only variables of this
// package.
var (
	Version = "dev"
	Commit  = ""
)
