#!/bin/sh
# Say whether all pinned packages install without a compiler: wheels.sh REQUIREMENTS [VERSION...]
# Downloads, checks the hashes and deletes again; nothing is built. Exits with 1 if a wheel is missing.
set -u

requirements=$1
shift
[ $# -gt 0 ] || set -- 3.11 3.12 3.13
machine=${MACHINE:-x86_64}
python=${PYTHON:-python3}
platforms=""
for tag in manylinux_2_28 manylinux_2_27 manylinux_2_26 manylinux_2_24 manylinux_2_17 manylinux2014 manylinux_2_12 \
	manylinux2010 manylinux_2_5 manylinux1; do
	platforms="$platforms --platform ${tag}_$machine"
done
missing=0
for version in "$@"; do
	folder=$(mktemp -d)
	# shellcheck disable=SC2086
	if said=$("$python" -m pip download --quiet --require-hashes --no-deps --only-binary=:all: --implementation cp \
		--python-version "$version" $platforms --dest "$folder" -r "$requirements" 2>&1); then
		echo "Python $version: $(find "$folder" -name '*.whl' | wc -l) wheels, nothing to compile"
	else
		echo "Python $version: $(printf '%s\n' "$said" | grep -m 1 ERROR)" >&2
		missing=1
	fi
	rm -rf "$folder"
done
exit $missing
