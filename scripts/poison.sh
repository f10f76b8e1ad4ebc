# shellcheck shell=bash
# No check runs a CLI that happens to be installed, or writes into the user's home. These come first
# on PATH, note that they ran, and fail. It is read after sections.sh.

mkdir "$scratch/poison"
for name in $(sed -n "s/^shims='\(.*\)'/\1/p" install.sh); do
	printf '#!/bin/sh\necho "$0 $*" >>%q\nexit 97\n' "$scratch/ran" >"$scratch/poison/$name"
	chmod +x "$scratch/poison/$name"
done
export PATH="$scratch/poison:$PATH"

nothing_real_ran() {
	if [ -e "$scratch/ran" ]; then
		echo 'a CLI on the PATH of the caller was run:'
		cat "$scratch/ran"
		exit 1
	fi
}
