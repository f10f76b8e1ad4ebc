#!/bin/sh
# Runs shimctl out of a package of npm. Such a package holds no links, and npx keeps it for a while only: install and
# setup put the programs into a directory of their own, and the program there is run.
set -eu
here=$(cd -P -- "$(dirname -- "$0")" && pwd)
case ${1:-} in
'' | -h | --help | help)
	[ $# -le 1 ] && cat <<'END'
usage: reprise COMMAND

  reprise setup       install the programs, and put the shims first in your shell
  reprise install     install or update the programs only; --help lists its options
  reprise uninstall   remove them, and the line in your start file; --purge also
                      removes the ledger, the log and the configuration

Every other command is shimctl's:

END
	;;
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
