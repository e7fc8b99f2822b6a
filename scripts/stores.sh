#!/usr/bin/env bash
# Makes target/stores/bin with Prometheus 3 and a node exporter newer than Debian's, which tests ask. Silent when they are
# there. Where one cannot be made its tests say that they were skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# As a Go module Prometheus 3.16.0 is 0.316.0.
prometheus=0.316.0
node_exporter=1.12.1
folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")/stores

if [ ! -x "$folder/bin/prometheus" ]; then
    echo "Building Prometheus $prometheus" >&2
    # Targets are named in its settings: without what looks for them in clouds it is built in a third of the time.
    GOBIN=$folder/bin go install -tags remove_all_sd "github.com/prometheus/prometheus/cmd/prometheus@v$prometheus"
fi
if [ ! -x "$folder/bin/node_exporter" ]; then
    echo "Building node_exporter $node_exporter" >&2
    GOBIN=$folder/bin go install "github.com/prometheus/node_exporter@v$node_exporter"
fi
