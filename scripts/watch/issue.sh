#!/bin/sh
# issue.sh LABEL TITLE OUTCOME REPORT keeps one open issue with this label: OUTCOME 1 opens it or writes the report into it, 0 closes it. With
# any other nothing could be told, and it stays as it is. It needs gh, with GH_TOKEN and GH_REPO.
set -eu
label=$1 title=$2 outcome=$3 report=$4
case $outcome in
0 | 1) ;;
*)
	echo "could not tell: the issue stays as it is"
	exit 0
	;;
esac
number=$(gh issue list --label "$label" --state open --limit 1 --json number --jq '.[].number')
case $outcome$number in
0) echo 'nothing to report, and no issue is open' ;;
0*) gh issue close "$number" --comment 'The last run found nothing any more.' ;;
*)
	body=$(mktemp)
	trap 'rm -f -- "$body"' EXIT
	head -c 60000 "$report" >"$body" # GitHub takes 65,536 characters
	if [ -n "$number" ]; then
		gh issue edit "$number" --title "$title" --body-file "$body"
	else
		gh label create "$label" --force
		gh issue create --label "$label" --title "$title" --body-file "$body"
	fi
	;;
esac
