#!/usr/bin/env bash
# Makes target/python, a Python with pyarrow, by which tests read back what `stallscope export` wrote.
# Silent when it is there. Where it cannot be made those tests say that they were skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pyarrow=26.0.1
folder=target/python

installed() {
    [ -x "$folder/bin/python3" ] &&
        "$folder/bin/python3" -c "import pyarrow; assert pyarrow.__version__ == '$pyarrow'" 2>/dev/null
}

installed && exit 0
echo "Making $folder with pyarrow $pyarrow" >&2
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check "pyarrow==$pyarrow"
