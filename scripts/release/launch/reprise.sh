#!/bin/sh
# Runs shimctl out of a package of npm or pip. Such a package holds no links, and npx and virtual environments lie in
# places that go: install and setup put the programs into a directory of their own, and what lies there is run.
set -eu
here=$(cd -P -- "$(dirname -- "$0")" && pwd)
case ${1:-} in
install)
	shift
	exec sh "$here/install.sh" "$@"
	;;
uninstall)
	shift
	exec sh "$here/install.sh" --uninstall "$@"
	;;
setup)
	case " $* " in
	*' --undo '* | *' --dry-run '* | *' -n '* | *' --help '* | *' -h '*) ;; # these install nothing
	*) sh "$here/install.sh" >/dev/null ;; # it says that setup comes next
	esac
	;;
esac
bin=$(sh "$here/install.sh" --where)
[ -x "$bin/shimctl" ] || bin=$here/bin
exec "$bin/shimctl" "$@"
