#!/bin/sh
# Look for known vulnerabilities: audit.sh PIP_AUDIT REQUIREMENTS
# Exits with 0 if there are none, 1 if there are some, 2 if nothing could be checked.
set -u

nothing_checked() {
	echo "make audit: the data on vulnerabilities could not be reached or read, so nothing was checked." >&2
	exit 2
}

# Without a network, pip-audit would try for each package until it gives up.
python="$(dirname "$1")/python"
if [ -x "$python" ]; then
	"$python" -c 'import urllib.request as r; r.urlopen("https://pypi.org/pypi/pip/json", timeout=20)' \
		2>/dev/null || nothing_checked
fi
said=$("$1" --require-hashes --disable-pip --progress-spinner off -r "$2" 2>&1)
code=$?
printf '%s\n' "$said"
printf '%s\n' "$said" | grep -qE '^Found [0-9]+ known vulnerabilit' && exit 1
[ "$code" -eq 0 ] || nothing_checked
skipped=$(printf '%s\n' "$said" | grep -c 'could not be audited')
[ "$skipped" -eq 0 ] && exit 0
echo "make audit: there is no data on $skipped packages, so nothing was checked about them." >&2
exit 2
