#!/bin/sh
# alive.sh WORKFLOW DAYS reports whether a scheduled workflow still does its work. It exits with 0 if a run has ended well within that many
# days, with 1 if none has, and with 2 if it could not tell. It needs gh, with GH_TOKEN and GH_REPO.
set -eu
workflow=$1 days=$2
runs() { # options for gh; prints TIME CONCLUSION ADDRESS of scheduled runs that have ended, the newest first
	gh run list --workflow "$workflow" --event schedule --status "$1" --limit "$2" --json createdAt,conclusion,url --jq '.[] | "\(.createdAt) \(.conclusion) \(.url)"'
}
good=$(runs success 1) && last=$(runs completed 3) || exit 2
if [ -z "$good" ]; then
	printf 'No scheduled run of %s has ended well.\n' "$workflow"
else
	at=$(date -d "${good%% *}" +%s) && now=$(date +%s) || exit 2
	age=$(((now - at) / 86400))
	printf 'The last run of %s that ended well began %s days ago.\n' "$workflow" "$age"
fi
printf '\nThe last runs:\n\n%s\n' "$last" | sed 's/^\([0-9]\)/    \1/'
[ -n "$good" ] && [ "$age" -lt "$days" ]
