# shellcheck shell=bash
# Sections of checks that run beside each other. The output of a section is printed as a whole when it ends, below its title, the seconds by
# the clock and the seconds of processor time. The first that fails ends all. It is read by .ci/run and scripts/all,
# by bash with set -euo pipefail.

scratch=$(mktemp -d)
at_once=2 # sections
aside=''  # the names of those that mostly wait, and do not count
under_way=''

end_sections() {
	local name
	for name in $under_way; do
		kill -- "-$(cat "$scratch/$name.pid")" 2>/dev/null || true # it might have ended
	done
	rm -rf "$scratch" 2>/dev/null || { sleep 0.5 && rm -rf "$scratch"; } # a section that was ended might just have noted it
}
trap end_sections EXIT

# begin runs a function as a section, as soon as there is room for it. The text behind the name is
# the title.
begin() {
	until has_room "$1"; do
		next
	done
	local name=$1
	echo "$*" >"$scratch/$name.title"
	under_way+=" $name"
	set -m # a process group of its own, in which no signal is ignored
	(
		# shellcheck disable=SC2064 # a section can have a name of its own
		trap "leave $name \$? \$((SECONDS - $SECONDS))" EXIT
		"$name"
	) >"$scratch/$name.output" 2>&1 </dev/null &
	echo $! >"$scratch/$name.pid"
	set +m
}

# has_room reports whether a section can begin.
has_room() {
	local name count=0
	for name in $under_way; do
		[[ " $aside " == *" $name "* ]] || count=$((count + 1))
	done
	[[ " $aside " == *" $1 "* ]] || [ "$count" -lt "$at_once" ]
}

# leave notes how a section ended, within its process.
leave() {
	times >"$scratch/$1.times"
	echo "$2 $3" >"$scratch/$1.ending"
	mv "$scratch/$1.ending" "$scratch/$1.ended"
}

# next prints the sections that have ended. It waits if there is none.
next() {
	local name seconds status left=$under_way
	while [ "$left" = "$under_way" ]; do
		sleep 0.1
		left=''
		for name in $under_way; do
			if [ ! -e "$scratch/$name.ended" ] && kill -0 "$(cat "$scratch/$name.pid")" 2>/dev/null; then
				left+=" $name"
				continue
			fi
			[ -e "$scratch/$name.ended" ] || leave "$name" killed "?"
			read -r status seconds <"$scratch/$name.ended"
			printf '== %s (%s s, %s s of processor time)\n' "$(cut -d' ' -f2- "$scratch/$name.title")" "$seconds" "$(processor_time "$scratch/$name.times")"
			cat "$scratch/$name.output"
			if [ "$status" != 0 ]; then
				echo "failed: $name"
				exit 1
			fi
		done
	done
	under_way=$left
}

# processor_time sums the second line of times, the seconds of processes that have ended.
processor_time() {
	awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] } printf "%.0f", sum }' "$1"
}

# await waits until a section has ended.
await() {
	while [[ " $under_way " == *" $1 "* ]]; do
		next
	done
}

# finish waits until all sections have ended.
finish() {
	while [ -n "$under_way" ]; do
		next
	done
}
