#!/usr/bin/env bash
# Makes target/load-generators/bin with vegeta and locust, which tests run under Stallscope; JMeter is brought by
# jmeter.sh. Silent when they are there. Where one cannot be made its tests say that they were skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

vegeta=12.13.0
locust=2.47.0
folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")/load-generators

if [ ! -x "$folder/bin/vegeta" ]; then
    echo "Building vegeta $vegeta" >&2
    GOBIN=$folder/bin go install "github.com/tsenart/vegeta/v12@v$vegeta"
fi
if [ ! -x "$folder/bin/locust" ]; then
    echo "Installing Locust $locust" >&2
    python3 -m venv "$folder/python"
    "$folder/python/bin/pip" install --quiet --disable-pip-version-check "locust==$locust"
    ln -sf ../python/bin/locust "$folder/bin/locust"
fi
