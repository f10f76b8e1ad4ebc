# shellcheck shell=sh
# The compiler's flags for install.sh and scripts/release.

# The C library's own thread stacks are too small for Go callbacks where that library is musl.
static='-linkmode external -extldflags "-static -Wl,-z,stack-size=1048576"'
tags='sqlite_omit_load_extension osusergo netgo'

# stamped VERSION COMMIT prints the linker flags that name a build.
stamped() { printf '%s' "-s -w -X reprise/config.Version=$1 -X reprise/config.Commit=$2"; }
