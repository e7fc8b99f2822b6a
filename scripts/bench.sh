#!/usr/bin/env bash
# bench.sh [FIGURE]
#
# What the program costs, as ratios within one run; bench/RESULTS.md keeps what was measured. The figure
# `page` is the report of the hour in a browser.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/need.sh "the bench" postgresql compilers
case "${1:-steal}" in
    steal) scripts/need.sh "the steal experiment" linux-perf ;;
esac
scripts/build.sh

built=$(realpath "${CARGO_TARGET_DIR:-target}/release")

page() {
    scripts/need.sh "the page's figures" nodejs npm chromium
    [ ui/node_modules/.package-lock.json -nt ui/package-lock.json ] ||
        (cd ui && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci)
    [ -d "$built/bench-hour.stall" ] || "$built/stallscope-bench" hour
    "$built/stallscope" report "$built/bench-hour.stall" -o "$built/bench-hour.html" >/dev/null
    echo "page: $(wc -c <"$built/bench-hour.html") bytes for the hour"
    (cd ui && node bench/page.mjs "$built/bench-hour.html")
}

case "${1:-}" in
    page) page ;;
    steal) exec "$built/stealmeter-experiment" "${@:2}" ;;
    "")
        "$built/stallscope-bench"
        "$built/stealmeter-experiment"
        page
        ;;
    *) exec "$built/stallscope-bench" "$@" ;;
esac
