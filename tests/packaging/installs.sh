#!/usr/bin/env bash
# Installs a wheel or an sdist beside what the lock file names, and has it mend a program: installs.sh PYTHON FILE DIRECTORY
set -euo pipefail
python=$1 file=$(realpath "$2") below=$3
locks=$(cd "$(dirname "$0")/../.." && pwd)
place=$below/$(basename "$python")
if [ ! -d "$place" ]; then
    "$python" -m venv "$place"
    "$place/bin/python" -m pip install --quiet --require-hashes -r "$locks/requirements.lock"
    "$place/bin/python" -m pip install --quiet --require-hashes -r "$locks/requirements-release.lock"
fi
"$place/bin/python" -m pip install --quiet --no-deps --no-build-isolation --force-reinstall "$file"
project=$(mktemp -d "$below/project.XXXXXX") home=$(mktemp -d "$below/home.XXXXXX")
cd "$project"
echo 'print(sum(range(1, 3)))' >main.py
echo 6 >expected.txt
HOME=$home XDG_STATE_HOME=$home "$place/bin/codur" --offline "fix main.py" >/dev/null 2>told || { cat told >&2; exit 1; }
"$place/bin/python" main.py | cmp - expected.txt
echo "$python: $("$place/bin/codur" --version) from $(basename "$file") mends a program"
