#!/bin/sh
# install.sh installs shimctl and the shims of tools that are on PATH into a directory of their own, with --store reprise-store too. It takes
# them from a release, checked against its checksums and signature, or from the package that it lies in, or builds
# them in a checkout. It edits no shell profile, but --uninstall takes the line of shimctl setup out; it never touches a file
# that it did not install, and at no moment is there a name without a program behind it: each is made and tried first, then
# renamed into place.
set -eu
unset CDPATH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

shims='claude codex copilot droid gemini opencode kilo qwen vibe'
programs='shimctl reprise-store'
names="$shims npx $programs" # choose_programs leaves some out
repository='' # github.com/OWNER/NAME: its workflow signs releases; scripts/home sets it
tmp='' made=''

main() {
	read_options "$@"
	find_directories
	case $action in
	uninstall) uninstall ;;
	where) printf '%s\n' "$bin" ;;
	*) install_programs ;;
	esac
}

install_programs() {
	find_source
	if [ "$source" = checkout ]; then
		enter_repository
		check_go
		check_compiler
	fi
	choose_programs
	check_bin_dir
	case $source in
	checkout) build ;;
	package) take "$here" ;;
	release)
		fetch_release
		take "$tmp/${archive%.tar.gz}"
		;;
	esac
	put_in_place
	summary
	if [ "$demo" = yes ]; then
		printf '\n'
		"$bin/shimctl" demo
	fi
}

# --- the user's options ---

usage() {
	cat <<'END'
usage: ./install.sh [--from RELEASE] [--unsigned] [--bin-dir DIR]
                    [--tools TOOLS] [--store] [--demo]
       ./install.sh --uninstall [--bin-dir DIR] [--purge]

  --from RELEASE install the programs of a release, without Go and a C compiler:
                 a directory or an https URL that has the archives and
                 SHA256SUMS (default: the package or release that this script
                 lies in, else build)
  --unsigned     do not check the signature of the release, for instance of one
                 that you built
  --bin-dir DIR  install into DIR, a directory of its own
                 (default: $REPRISE_BIN_DIR, or reprise/bin in the user's data
                 directory)
  --tools TOOLS  install shims of these tools too, with commas between: shims
                 that are there stay, and tools on PATH get one; if there are
                 neither, all tools do
  --store        install reprise-store too, which machines need to share
                 sessions; once there, it stays
  --demo         show what the installed shims do, on this machine alone
                 (shimctl demo)
  --uninstall    remove the programs, and the line that shimctl setup added to
                 your start file; the ledger, the log and the configuration stay
  --purge        with --uninstall: remove those as well
  --where        print the directory to install into, and do nothing
  --help         show this
END
}

read_options() {
	action=install demo=no store=no purge=no unsigned=no from='' asked='' bin=${REPRISE_BIN_DIR:-}
	case $bin in
	'' | /*) ;;
	*) fail "REPRISE_BIN_DIR is $bin, not an absolute path" 'programs in other directories would not find it; set it anew' ;;
	esac
	while [ $# -gt 0 ]; do
		case $1 in
		--bin-dir=* | --from=* | --tools=*)
			option=$1
			shift
			set -- "${option%%=*}" "${option#*=}" "$@"
			continue
			;;
		--bin-dir)
			[ -n "${2:-}" ] || bad_usage '--bin-dir needs a directory'
			bin=$2
			shift
			;;
		--from)
			[ -n "${2:-}" ] || bad_usage '--from needs a directory or a URL'
			from=$2
			shift
			;;
		--tools)
			add_tools "${2:-}"
			shift
			;;
		--unsigned) unsigned=yes ;;
		--uninstall) action=uninstall ;;
		--where) action=where ;;
		--purge) purge=yes ;;
		--store) store=yes ;;
		--demo) demo=yes ;;
		-h | --help)
			usage
			exit 0
			;;
		*) bad_usage "unknown option $1" ;;
		esac
		shift
	done
	[ "$purge" = no ] || [ "$action" != install ] || bad_usage '--purge goes only with --uninstall'
	[ "$demo" = no ] || [ "$action" != uninstall ] || bad_usage '--demo does not go with --uninstall'
}

# add_tools LIST adds the tools of a list with commas to the requested ones.
add_tools() {
	[ -n "$1" ] || bad_usage '--tools needs tools'
	case $1 in *[!a-z0-9,-]*) bad_usage "$1 is no list of tools" ;; esac
	for name in $(printf '%s' "$1" | tr , ' '); do
		case " $shims " in
		*" $name "*) asked="$asked $name" ;;
		*) bad_usage "$name is not a tool: $(printf '%s' "$shims" | sed 's/ /, /g')" ;;
		esac
	done
}

bad_usage() { fail "$1" './install.sh --help lists the options' 2; }

# fail PROBLEM HINT [STATUS] shows the log of the last command that has one, and ends.
fail() {
	[ -z "$tmp" ] || ! [ -f "$tmp/log" ] || cat "$tmp/log" >&2
	printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
	exit "${3:-1}"
}

say() { printf '%s\n' "$1"; }

# --- where things live (config/paths.go has the same rules) ---

find_directories() {
	state=$(xdg "${XDG_STATE_HOME:-}" .local/state)
	settings=$(xdg "${XDG_CONFIG_HOME:-}" .config)
	data=$(xdg "${XDG_DATA_HOME:-}" .local/share)
	[ -n "$bin$data" ] || fail 'HOME is not set to an absolute path' 'set it, or name a directory with --bin-dir DIR'
	bin=${bin:-$data/bin}
	case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
	while [ "$bin" != "${bin%/}" ]; do bin=${bin%/}; done
	[ -n "$bin" ] || fail 'the bin dir must not be /' 'name a directory of its own with --bin-dir DIR'
	case $bin in
	*:* | *"
"*) fail "$bin cannot stand on PATH" 'name a directory without a colon or a line break in it' ;;
	esac
}

# xdg BASE FALLBACK prints our directory in an XDG base directory. A base that is not absolute is ignored, as the
# XDG specification asks. Without a home nothing is printed.
xdg() {
	case $1 in
	/*) printf '%s/reprise\n' "${1%/}" ;;
	*) case ${HOME:-} in /*) printf '%s/%s/reprise\n' "${HOME%/}" "$2" ;; esac ;;
	esac
}

# find_source sets source: a release, which from names, the package around this script, or a checkout.
find_source() {
	here=$(real "$(dirname -- "$0")") || here=.
	source=checkout
	if [ -n "$from" ]; then
		source=release
	elif [ -e "$here/go.mod" ]; then
		: # a checkout, whatever lies in it
	elif [ -f "$here/bin/shimctl" ]; then
		source=package
	elif [ -f "$here/SHA256SUMS" ]; then
		source=release from=$here
	fi
	from=${from%/}
	case $from in
	'' | /* | https://*) ;;
	http://*)
		[ "$(say "$from" | grep -Ecvx 'http://(localhost|127\.0\.0\.1|\[::1])(:[0-9]+)?(/.*)?')" = 0 ] ||
			fail "$from is not an https URL" 'plain http is only for this machine: 127.0.0.1, [::1] or localhost'
		unset http_proxy all_proxy ALL_PROXY # which would take it elsewhere
		;;
	*://*) fail "$from is not an https URL" 'what came over another way could have been changed' ;;
	*) from=$PWD/$from ;;
	esac
}

enter_repository() {
	cd -- "$here"
	grep -q '^module reprise$' go.mod 2>/dev/null ||
		fail "$here is not the reprise repository" 'clone it and run ./install.sh in it, or name a release with --from'
	. ./scripts/flags.sh
}

# --- requirements of the build ---

without='or build a release elsewhere (go run ./scripts/release -out DIR) and name it with --from'

check_go() {
	get_go="install go from https://go.dev/dl: from 1.21 on it fetches a newer one itself, unless GOTOOLCHAIN is local; $without"
	command -v go >/dev/null 2>&1 || fail 'go is not on PATH' "$get_go"
	# Settings of other projects do not belong in this build.
	export CGO_ENABLED=1 GOWORK=off GO111MODULE=on
	# In this directory go can look for a newer version of itself, in vain.
	go version >/dev/null || fail 'go does not start' "the lines above say why; $get_go"
	GOOS=$(go env GOHOSTOS) GOARCH=$(go env GOHOSTARCH) # for this machine, whatever is set
	export GOOS GOARCH
}

check_compiler() {
	for compiler in "$(go env CC)" cc gcc clang; do
		! command -v "${compiler%% *}" >/dev/null 2>&1 || return 0
	done
	fail 'no C compiler on PATH (cc, gcc or clang)' "SQLite needs one: apt-get install gcc libc6-dev, dnf install gcc or apk add gcc musl-dev; $without"
}

# --- which programs to install ---

# choose_programs leaves in names the shims that are asked for, the shims that are there, and the
# shims of tools on PATH. A shim of a tool that is missing makes it seem installed to programs that
# look for its name. Without any of them there is a shim for each tool: on the PATH of this script
# the tools can be missing though shells find them, as with nvm.
choose_programs() {
	[ "$store" = yes ] || present "$bin/reprise-store" || programs=shimctl
	chosen='' left_out=''
	for name in $shims; do
		if wanted "$name"; then chosen="$chosen$name "; else left_out="$left_out, $name"; fi
	done
	[ -n "$chosen" ] || chosen="$shims " left_out=''
	names=$chosen$programs
	! present "$bin/npx" || names="$names npx" # shimctl setup --npx adds it
}

# wanted reports whether a tool gets a shim.
wanted() {
	case " $asked " in *" $1 "*) return 0 ;; esac
	present "$bin/$1" || on_path "$1"
}

# on_path reports whether PATH has a program of that name outside of the directory of the shims.
on_path() (
	IFS=:
	set -f
	for directory in $PATH; do
		[ -f "$directory/$1" ] && [ -x "$directory/$1" ] || continue
		[ "$(real "$directory")" = "$(real "$bin")" ] || return 0
	done
	return 1
)

# real prints the path of a directory without symbolic links.
real() ([ -n "$1" ] && cd -P -- "$1" 2>/dev/null && pwd)

# --- the directory, and which files in it are ours ---

# A line of the marker is a name, then the checksum and the size of the file that was installed
# under it. There is a line for a new file before the file is in place, so the next installation
# knows the files of an interrupted one. A shim that shimctl setup adds has the content of another.
marker=.reprise

check_bin_dir() {
	! [ -L "$bin" ] || fail "$bin is a symbolic link" 'name the directory that it leads to'
	! [ -e "$bin" ] || [ -d "$bin" ] || fail "$bin is not a directory" 'name another one with --bin-dir DIR'
	for name in $names; do
		! present "$bin/$name" || ours "$name" ||
			fail "$bin/$name was not installed by reprise" 'name a directory of its own with --bin-dir DIR'
	done
	! present "$bin/$marker" || is_file "$bin/$marker" ||
		fail "$bin/$marker was not written by reprise" 'name a directory of its own with --bin-dir DIR'
	[ -e "$bin/$marker" ] || [ -z "$(ls -- "$bin" 2>/dev/null)" ] ||
		fail "$bin holds other files" "name a directory of its own, such as $bin/reprise, with --bin-dir DIR"
	[ -d "$bin" ] || made=$bin
	mkdir -p -- "$bin" 2>/dev/null || fail "$bin cannot be created" 'name another directory with --bin-dir DIR'
	for old in "$bin/$marker".tmp.*; do # which killed installations have left behind
		kill -0 "${old##*.}" 2>/dev/null || rm -rf -- "$old" 2>/dev/null || :
	done
	tmp=$bin/$marker.tmp.$$
	mkdir -m 700 -- "$tmp" 2>/dev/null || {
		tmp=''
		fail "$bin is not writable" 'name another directory with --bin-dir DIR'
	}
}

# present reports whether there is anything of that name, be it a dangling link.
present() { [ -e "$1" ] || [ -L "$1" ]; }

is_file() { [ -f "$1" ] && ! [ -L "$1" ]; }

# ours reports whether the file of that name is one that we installed, or a copy of one.
ours() { is_file "$bin/$1" && [ -r "$bin/$marker" ] && grep -q -e " $(cksum <"$bin/$1")\$" "$bin/$marker"; }

clean_up() {
	[ -z "$tmp" ] || rm -rf -- "$tmp"
	[ -z "$made" ] || remove_empty || :
}

# remove_empty removes the bin dir if nothing is left in it.
remove_empty() {
	rmdir -- "$bin" 2>/dev/null || return 0
	# reprise/bin of the data directory is ours from reprise on.
	[ "$bin" != "$data/bin" ] || rmdir -- "${bin%/bin}" 2>/dev/null || :
}

# --- take: the programs of a release or a package ---

# fetch_release fetches the archive for this machine, checks it and unpacks it into the temporary directory.
fetch_release() {
	case $(uname -s)/$(uname -m) in
	Linux/x86_64 | Linux/amd64) platform=linux-amd64 ;;
	Linux/aarch64 | Linux/arm64) platform=linux-arm64 ;;
	*) fail "releases have no programs for $(uname -s) on $(uname -m)" 'build in a checkout: ./install.sh there needs Go and a C compiler' ;;
	esac
	command -v sha256sum >/dev/null 2>&1 || fail 'sha256sum is not on PATH' 'without it the programs cannot be checked'
	fetch SHA256SUMS
	line=$(grep -E "^[0-9a-f]{64}  reprise-[A-Za-z0-9._+-]+-$platform\.tar\.gz\$" "$tmp/SHA256SUMS") || line=
	archive=${line##* }
	[ "$line" = "${line%% *}  $archive" ] || fail "$from/SHA256SUMS does not list one archive for $platform" 'name the directory of one release with --from'
	say "fetching $archive from $from (some seconds)"
	fetch "$archive"
	say "$line" | (cd -- "$tmp" && sha256sum -c) >/dev/null 2>&1 ||
		fail "$archive does not have the checksum that SHA256SUMS lists" 'nothing was installed; if it happens again, do not trust the place it comes from'
	printf 'its checksum is right\n'
	check_signature
	(cd -- "$tmp" && tar -xzf "$archive") 2>"$tmp/log" || fail "$archive cannot be unpacked" 'the lines above say why'
}

# check_signature checks, with cosign or gh if this machine has one of them, that the repository's own workflow made the
# release, and names the check.
check_signature() {
	workflow=$repository/.github/workflows/release.yml
	if [ "$unsigned" = yes ]; then
		why='--unsigned was given'
	elif [ -z "$repository" ]; then
		why='this install.sh does not know which repository signs its releases'
	elif command -v cosign >/dev/null 2>&1; then
		fetch SHA256SUMS.sigstore.json
		set -- cosign verify-blob --bundle "$tmp/SHA256SUMS.sigstore.json" \
			--certificate-identity-regexp "^https://$(printf '%s' "$workflow" | sed 's/\./\\./g')@refs/tags/v" \
			--certificate-oidc-issuer https://token.actions.githubusercontent.com "$tmp/SHA256SUMS"
	elif gh attestation verify --help >/dev/null 2>&1; then
		fetch provenance.sigstore.json
		set -- gh attestation verify "$tmp/$archive" --bundle "$tmp/provenance.sigstore.json" \
			--repo "${repository#*/}" --signer-workflow "${workflow#*/}"
	else
		why='neither cosign nor gh is on PATH'
	fi
	if [ $# = 0 ]; then
		say "its signature was not checked: $why"
		return
	fi
	"$@" >"$tmp/log" 2>&1 ||
		fail "$1 does not confirm that $repository released $archive" 'nothing was installed; the lines above say why'
	say "its signature is right: $1 confirms that the release workflow of $repository made it"
}

# fetch NAME copies or downloads a file of the release.
fetch() {
	case $from in
	*://*) download "$from/$1" "$tmp/$1" || fail "$from/$1 cannot be fetched" 'the lines above say why' ;;
	*) cp -- "$from/$1" "$tmp/$1" || fail "$from/$1 cannot be read" 'name the directory of a release with --from' ;;
	esac
}

download() {
	if command -v curl >/dev/null 2>&1; then
		curl -fsSL --proto-redir '=https' -o "$2" -- "$1"
	elif command -v wget >/dev/null 2>&1; then
		wget -q -O "$2" -- "$1"
	else
		fail 'neither curl nor wget is on PATH' 'install one, or fetch the release and name its directory with --from'
	fi
}

# take DIR takes the programs in DIR/bin, and tries them. Where shims cannot be links, their program is called shim.
take() {
	program=$1/bin/shim
	[ -f "$program" ] || program=$1/bin/${shims%% *}
	for name in shim $programs; do
		[ "$name" = shim ] || program=$1/bin/$name
		cp -- "$program" "$tmp/$name" 2>"$tmp/log" || fail "$1 lacks a program" 'fetch the release anew'
		chmod 755 -- "$tmp/$name"
	done
	start || fail 'the programs do not start on this machine' 'the lines above say why'
	version=$(sed -n 's/^reprise \([^ ]*\).*/\1/p' "$tmp/log")
	kind='static'
}

# --- build: the most self-contained kind that links and starts ---

build() {
	stamp
	say "building reprise $version with $(go env GOVERSION) and $compiler: compiling SQLite takes one to four minutes the first time"
	# Asked apart from the build, so that a module that cannot be had is not taken for a link that fails.
	# shellcheck disable=SC2046,SC2086 # several programs
	go list -deps -tags "$tags" ./cmd/shim $(printf " ./cmd/%s" $programs) >/dev/null 2>"$tmp/log" ||
		fail 'the packages to build cannot be loaded' "the lines above say why; if go is too old, $get_go"
	if [ "$GOOS" = linux ]; then
		if [ -z "${CC:-}" ] && command -v musl-gcc >/dev/null 2>&1; then
			kind='static, musl'
			! link musl-gcc "$static" || return 0
		fi
		kind='static'
		! link "$compiler" "$static" || return 0
	fi
	kind='dynamic'
	link "$compiler" '' || fail 'reprise cannot be built' 'the lines above say why'
}

# stamp finds the version to stamp. A checkout that was copied into another repository is not that one's version.
stamp() {
	version=dev commit=
	if [ -e .git ] && command -v git >/dev/null 2>&1; then
		version=$(git describe --tags --always --dirty 2>/dev/null) || version=dev
		commit=$(git rev-parse HEAD 2>/dev/null) || commit=
	fi
	case $version in *[!A-Za-z0-9._+/-]*) version=dev ;; esac
}

# link COMPILER LINKER_FLAGS builds the programs and tries them. The last one contains no C.
link() {
	for program in shim $programs; do
		cgo=1 flags="$(stamped "$version" "$commit") $2"
		[ "$program" != reprise-store ] || cgo=0 flags=$(stamped "$version" "$commit")
		CC=$1 CGO_ENABLED=$cgo go build -trimpath -buildvcs=false -tags "$tags" -ldflags "$flags" \
			-o "$tmp/$program" "./cmd/$program" 2>"$tmp/log" || return 1
	done
	start
}

# start reports whether the programs that were made start here; the log says why not. A shim that works says itself that there
# is no tool for it to find here.
start() {
	cp -- "$tmp/shim" "$tmp/claude" || return 1 # it acts by the name it is called
	try claude --version
	case $status in 126 | 127) grep -q '^reprise: ' "$tmp/log" ;; *) return 1 ;; esac || return 1
	for program in $programs; do
		try "$program" version
		[ "$status" = 0 ] || return 1
	done
}

# try PROGRAM ARGUMENT sets status.
try() {
	echo 'a program is there but does not start here; what it said:' >"$tmp/log"
	status=0
	env -i PATH="$tmp/none" HOME="$tmp/none" REPRISE_OFF=1 "$tmp/$1" "$2" \
		</dev/null >>"$tmp/log" 2>&1 || status=$?
}

# --- install ---

put_in_place() {
	for name in $names; do
		case " $programs " in *" $name "*) continue ;; esac
		ln -f -- "$tmp/shim" "$tmp/$name" 2>/dev/null || cp -- "$tmp/shim" "$tmp/$name"
	done
	for name in $names; do say "$name $(cksum <"$tmp/$name")"; done >"$tmp/new"
	cat "$bin/$marker" "$tmp/new" 2>/dev/null | sort -u >"$tmp/both"
	mv -f -- "$tmp/both" "$bin/$marker"
	made=
	for name in $names; do mv -f -- "$tmp/$name" "$bin/$name"; done
	mv -f -- "$tmp/new" "$bin/$marker"
	rm -rf -- "$tmp"
	tmp=
}

summary() {
	say "installed $(printf '%s' "$names" | sed 's/ /, /g') in $bin"
	[ -z "$left_out" ] || say "not on PATH, so without a shim: ${left_out#, }; shimctl setup --tools NAME adds one"
	printf 'version %s, linked: %s\n\n' "$version" "$kind"
	if [ "$(real "${PATH%%:*}")" = "$(real "$bin")" ]; then
		printf 'that directory is first on PATH already\n\n'
	else
		say 'next: put that directory first on PATH. This shows the change, and asks:'
		printf '\n    %s setup\n\n' "$(quote "$bin/shimctl")"
		say "or do it yourself, here for bash and zsh:"
		printf '\n    export PATH=%s:$PATH\n\n' "$(quote "$bin")"
	fi
	say 'in shells that are open, run hash -r afterwards'
	say 'shimctl status shows the savings and decisions, shimctl doctor finds problems'
}

# quote prints a path as a shell reads it back.
quote() {
	case $1 in
	*[!A-Za-z0-9/._+-]*) printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")" ;;
	*) printf '%s' "$1" ;;
	esac
}

# --- uninstall ---

uninstall() {
	if [ -e "$bin/$marker" ]; then
		! ours shimctl || "$bin/shimctl" setup --undo --yes 2>&1 | grep -E '^(wrote|removed|error:|hint:) ' || :
		remove_programs
	else
		say "nothing of reprise is installed in $bin"
	fi
	for place in "$state" "$settings"; do
		[ -z "$place" ] || ! present "$place" || remove_or_mention "$place"
	done
}

remove_programs() {
	[ -w "$bin" ] || fail "$bin is not writable" 'run this as the user who installed it'
	for name in $names; do
		if ours "$name"; then
			rm -f -- "$bin/$name"
		elif present "$bin/$name"; then
			say "left $bin/$name: install.sh did not install it"
		fi
	done
	rm -rf -- "${bin:?}/$marker" "${bin:?}/$marker".tmp.*
	say "removed reprise from $bin"
	remove_empty
}

remove_or_mention() {
	if [ "$purge" = no ]; then
		again='./install.sh --uninstall'
		[ ! -e "$(dirname -- "$0")/reprise.sh" ] || again='reprise uninstall' # out of a package of npm
		say "left $1; to remove it too: $again --purge"
	elif present "$1/bin"; then # all base directories might be one, and programs must not be purged
		say "left $1, which holds $1/bin"
	else
		rm -rf -- "$1"
		say "removed $1"
	fi
}

trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
main "$@"
