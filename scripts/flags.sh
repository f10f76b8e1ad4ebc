# What install.sh and scripts/release build with.

# The C library's own thread stacks are too small for Go callbacks where that library is musl.
# Go is entered, and makes its threads, through shim/exec.c.
static='-linkmode external -extldflags "-static -Wl,-z,stack-size=1048576 -Wl,--wrap=main -Wl,--wrap=pthread_create -Wl,-u,pthread_create"'
tags='sqlite_omit_load_extension osusergo netgo'

# stamped VERSION COMMIT prints the linker flags that name a build.
stamped() { printf '%s' "-s -w -X reprise/config.Version=$1 -X reprise/config.Commit=$2"; }
