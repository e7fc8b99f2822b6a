#!/usr/bin/env bash
# ui.sh [build|all]
#
# `build` makes ui/dist/page.html, the page's program, which is kept in the repository. Without it the
# sources are checked and tested, the kept page is compared with a fresh one, and opened in a browser,
# with the network off; of the lab's pages every third, with `all` each. scripts/test.sh counts the lines `test result:`; what cannot be done here is a
# line `SKIPPED: why`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

oldest_node=20.19
made=$PWD/target/ui
# Nothing is downloaded but packages: the browser is the system's.
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm_config_loglevel=error npm_config_fund=false
export npm_config_audit=false npm_config_update_notifier=false

# One line for the count; a skipped test counts as passed there, and is taken off again.
result() {
    echo "test result: page, $1: $2 passed; $3 failed;"
}

skip() {
    echo "SKIPPED: $2"
    result "$1" 1 0
}

failed=0
# A step that either holds or does not.
check() {
    local name=$1
    shift
    echo "== page, $name: $*"
    if (cd ui && "$@"); then
        result "$name" 1 0
    else
        failed=1
        result "$name" 0 1
    fi
}

# Runs tests that leave a report in JSON, and counts them with an expression of it. When the runner
# itself stops without a report, that is one failure.
tests() {
    local name=$1 report=$2 counts=$3
    shift 3
    echo "== page, $name: $*"
    rm -f "$report"
    local status=0
    (cd ui && "$@") || status=$?
    local counted
    counted=$(node -e "
        const it = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8'));
        console.log($counts);" "$report" 2>/dev/null) || counted="0 1"
    # Something failed outside of every test.
    if [ "$status" -ne 0 ] && [ "${counted#* }" = 0 ]; then
        counted="${counted% *} 1"
    fi
    [ "$status" -eq 0 ] || failed=1
    # shellcheck disable=SC2086 # two numbers
    result "$name" $counted
}

has_node() {
    command -v node >/dev/null && command -v npm >/dev/null || return 1
    local found
    found=$(node --version)
    [ "$(printf '%s\n%s\n' "$oldest_node" "${found#v}" | sort -V | head -n 1)" = "$oldest_node" ]
}

fresh() {
    npx vite build --logLevel warn --outDir "$made/fresh" --emptyOutDir || return 1
    cmp dist/page.html "$made/fresh/page.html" && return 0
    echo "ui/dist/page.html is not what ui/ builds. Build it: make ui" >&2
    return 1
}

small() {
    local most=320000 bytes
    bytes=$(wc -c <dist/page.html)
    echo "$bytes bytes, at most $most"
    [ "$bytes" -le "$most" ]
}

# Pages of the lab's kept recordings, for the browser to open, made anew: every third, or all of them.
lab_pages() {
    local every=$1
    local program=${CARGO_TARGET_DIR:-target}/debug/stallscope
    [ -x "$program" ] || program=${CARGO_TARGET_DIR:-target}/release/stallscope
    [ -x "$program" ] || return 0
    rm -rf "$made/lab" "$made/recordings"
    mkdir -p "$made/lab" "$made/recordings"
    local packed name number=0
    for packed in lab/recordings/*.tar.zst; do
        name=$(basename "$packed" .tar.zst)
        number=$((number + 1))
        # The sample's is always among them.
        [ $((number % every)) -eq 0 ] || [ "$name" = step-change-ledger ] || continue
        if ! { tar -C "$made/recordings" --zstd -xf "$packed" &&
            "$program" report "$made/recordings/$name.stall" -o "$made/lab/$name.html" >/dev/null; }; then
            failed=1
            result "of $name" 0 1
        fi
    done
    export STALLSCOPE_PAGES=$made/lab
    if cmp docs/sample/report.html "$made/lab/step-change-ledger.html"; then
        result sample 1 0
    else
        echo "Make it anew: stallscope report target/ui/recordings/step-change-ledger.stall -o docs/sample/report.html" >&2
        failed=1
        result sample 0 1
    fi
}

if ! has_node; then
    why="the page: Node.js $oldest_node or newer with npm is not here (apt-get install nodejs npm, or"
    why+=" https://nodejs.org/en/download where that is older)"
    if [ "${1:-}" = build ]; then
        echo "$why" >&2
        exit 1
    fi
    skip "checks and tests" "$why"
    exit 0
fi
# Installed from this list already?
if ! { [ ui/node_modules/.package-lock.json -nt ui/package-lock.json ] || (cd ui && npm ci); }; then
    result "npm ci" 0 1
    exit 1
fi
if [ "${1:-}" = build ]; then
    (cd ui && npx vite build)
    exit 0
fi

mkdir -p "$made"
check types node types.mjs --check
check format npx biome check .
check compiler npx tsc --noEmit
tests units "$made/units.json" "it.numPassedTests + ' ' + it.numFailedTests" \
    npx vitest run --reporter=default --reporter=json --outputFile="$made/units.json"
check "fresh page" fresh
check size small
if browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome); then
    export CHROMIUM=$browser
    case ${1:-} in
        all) lab_pages 1 ;;
        *) lab_pages 3 ;;
    esac
    export PLAYWRIGHT_JSON_OUTPUT_NAME=$made/browser.json
    tests browser "$made/browser.json" "it.stats.expected + ' ' + (it.stats.unexpected + it.stats.flaky)" \
        npx playwright test --reporter=line,json
else
    skip browser "the page in a browser: there is no Chromium (apt-get install chromium)"
fi
exit "$failed"
