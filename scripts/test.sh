#!/usr/bin/env bash
# All checks and all tests. The last line is `N passed, N failed[, N skipped]`.
#
# A step that fails does not stop the others; each counts as one failed. A test that cannot run here
# prints one line `SKIPPED: why` and returns; it is counted as skipped, not as passed. With
# STALLSCOPE_REQUIRE=all nothing may be skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# In a fresh clone everything is compiled once: what would make the next time quicker makes this one slower.
[ -d "${CARGO_TARGET_DIR:-target}" ] || export CARGO_INCREMENTAL=0

scripts/need.sh "the tests" postgresql compilers sudo util-linux e2fsprogs iproute2 python3-venv
scripts/need.sh "the tests of stealmeter in C" liburing-dev ||
    echo "No liburing: stealmeter is not tested with what is missing" >&2
scripts/need.sh "the tests of other servers" redis-server nginx apache2-utils ||
    echo "No Redis, nginx or ab: requests are counted at PostgreSQL only" >&2
scripts/need.sh "the tests of block I/O" fio ||
    echo "No fio: block I/O is not compared with what was asked for" >&2
scripts/need.sh "the tests of applications that are asked" redis-server pgbouncer mariadb-server openjdk-17-jdk-headless prometheus-node-exporter ||
    echo "No Redis, PgBouncer, MariaDB, Java or node exporter: these are not asked what they report" >&2
scripts/need.sh "the tests of stores of metrics" prometheus victoria-metrics prometheus-node-exporter openssl apache2-utils ||
    echo "No Prometheus, VictoriaMetrics, node exporter, OpenSSL or htpasswd: no store is asked about several nodes" >&2
scripts/need.sh "the tests of several machines" openssh-server openssh-client ||
    echo "No OpenSSH: no other machine is recorded" >&2
scripts/need.sh "the tests of containers" podman runc busybox-static ||
    echo "No Podman, runc or busybox: no container is recorded" >&2
scripts/need.sh "the tests on another kernel" qemu-system-x86 busybox-static e2fsprogs xz-utils ||
    echo "No QEMU or busybox: nothing is tried on another kernel" >&2
scripts/need.sh "the steal experiment" linux-perf ||
    echo "No perf: the steal experiment is not tried" >&2
scripts/rust.sh
scripts/need.sh "the page's tests" nodejs npm chromium ||
    echo "No Node.js or Chromium: the page is not tested" >&2
scripts/need.sh "the tests of load generators" golang-go python3-venv nginx-light redis-server openjdk-17-jdk-headless maven unzip ||
    echo "No Go, Python, Java or Maven: load generators are tested on captured output only" >&2
# These wait for the network for the most part, while the compiler works.
scripts/load-generators.sh >&2 || echo "No vegeta or Locust: these are tested on captured output only" >&2 &
load_generators=$!
scripts/jmeter.sh >/dev/null || echo "No JMeter: it is tested on captured output only" >&2 &
jmeter=$!
scripts/stores.sh >&2 || echo "No Prometheus 3 or node exporter 1.12: stores are tested with Debian's only" >&2 &
stores=$!
scripts/postgres-versions.sh || echo "No other PostgreSQL: only the installed one's memory is read" >&2 &
servers=$!
scripts/python.sh || echo "No Python with pyarrow: what export writes is not read back" >&2

log=$(mktemp) guest_log=$(mktemp)
trap 'rm -f "$log" "$guest_log"' EXIT
# cargo's messages go through tee, and would lose their colours.
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-always}
fi

broken=()
step() {
    local name=$1
    shift
    echo "== $name: $*"
    "$@" || broken+=("$name")
}

step format cargo fmt --all --check
# With the fuzzer's own program, which wants libFuzzer: here it must at least compile. All at once, because
# a package by itself has other features of its dependencies, and they would all be compiled again. Nothing is
# linked, so libFuzzer itself, which is C++, need not be compiled.
step lints env CUSTOM_LIBFUZZER_PATH=/nowhere/libfuzzer.a cargo clippy --workspace --all-targets --features stallscope-fuzz/libfuzzer -- -D warnings
step tidy cargo xtask tidy
# Tests, and the programs that they run: what `cargo build --bins` makes has other features, too.
step build cargo test --workspace --no-run

wait "$load_generators" "$jmeter" "$stores" "$servers" || true

count() {
    awk -v word="$1;" '/^test result:/ { for (i = 2; i <= NF; i++) if ($i == word) n += $(i - 1) }
        END { print n + 0 }' "$2"
}

# --show-output: the lines of tests that passed are where SKIPPED stands.
echo "== tests: cargo test --workspace"
tests_status=0
cargo test --workspace --no-fail-fast -- --show-output 2>&1 | tee "$log" || tests_status=$?

# Tests make real load and measure it, two at a time, on machines that may be shared. What fails is tried once
# more, by itself; it is named at the end all the same. See docs/decisions/tests-again.md.
most_again=3
again=()
# Where a test's process died, its tests are not known.
if [ "$(grep -c '^error: test failed' "$log")" = "$(grep -c '^test result: FAILED' "$log")" ]; then
    mapfile -t again < <(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$log" | sort -u)
fi
unsteady=0
if [ "${#again[@]}" -gt 0 ] && [ "${#again[@]}" -le "$most_again" ]; then
    echo "== tests again, by themselves: ${again[*]}"
    log_again=$(mktemp)
    if cargo test --workspace --lib --bins --tests --no-fail-fast -- --exact --test-threads=1 --show-output \
        "${again[@]}" 2>&1 | tee "$log_again" && [ "$(count passed "$log_again")" -ge "${#again[@]}" ]; then
        unsteady=${#again[@]}
        tests_status=0
    fi
    rm -f "$log_again"
fi

for server in "${CARGO_TARGET_DIR:-target}"/postgres/*; do
    [ -d "$server/bin" ] || continue
    version=$(basename "$server")
    echo "== PostgreSQL $version's memory: statements"
    # Whom the server runs as may not be allowed to look into this folder.
    readable=$(mktemp -d)
    chmod 755 "$readable"
    cp -a "$server/." "$readable"
    STALLSCOPE_POSTGRES=$readable/bin cargo test -p stallscope --test e2e -- --show-output statements:: 2>&1 |
        tee -a "$log" || broken+=("PostgreSQL $version's memory (see above)")
    rm -rf "$readable"
done

echo "== another kernel: scripts/guest-tests.sh"
guest_tests() { scripts/guest-tests.sh 2>&1 | tee "$guest_log"; }
guest_status=0
guest_tests || guest_status=$?
# 125: the emulated machine ended before the tests did. Under the same rule as any other test: once more, and named.
if [ "$guest_status" -eq 125 ]; then
    again_guest=$(tail -n 40 "$guest_log")
    guest_status=0
    guest_tests || guest_status=$?
fi
cat "$guest_log" >> "$log"
[ "$guest_status" -eq 0 ] || broken+=("another kernel (see above)")

echo "== page: scripts/ui.sh"
page_status=0
scripts/ui.sh 2>&1 | tee -a "$log" || page_status=$?

passed=$(($(count passed "$log") + unsteady))
failed=$(($(count failed "$log") - unsteady))
skipped=$(grep -c '^SKIPPED:' "$log" || true)
passed=$((passed > skipped ? passed - skipped : 0))

# What failed, once more: it stands somewhere in thousands of lines, and what is kept of these is their end.
what_failed() {
    awk -v most=150 '
        /^failures:/ { failures = 1 }
        /^test result:/ { failures = 0 }
        failures { print }
        /^== page/ { n = 0 }
        { lines[n++ % most] = $0 }
        /^test result: page.* [1-9][0-9]* failed;/ {
            for (i = n > most ? n - most : 0; i < n; i++) print lines[i % most]
        }' "$log" | tail -n 600
}

# The page has a line for each step: without any the script itself stopped.
if [ "$page_status" -ne 0 ] && ! grep -q '^test result: page.* [1-9][0-9]* failed;' "$log"; then
    broken+=("page (stopped, see above)")
fi
# No test failed and cargo did: something did not compile, or a test's process died.
if [ "$tests_status" -ne 0 ] && [ "$failed" -eq 0 ]; then
    broken+=("tests (did not all run, see above)")
fi

echo
if [ "$((failed + unsteady))" -gt 0 ]; then
    echo "== what failed"
    what_failed
fi
if [ "$unsteady" -gt 0 ]; then
    printf 'failed, and passed by itself: %s\n' "${again[@]}"
fi
if [ -n "${again_guest:-}" ]; then
    printf '== the emulated machine ended, and was started again; its last lines\n%s\n' "$again_guest"
fi
if [ "$guest_status" -ne 0 ]; then
    printf '== what was said on another kernel, the end of it\n'
    tail -n 60 "$guest_log"
fi
if [ "${#broken[@]}" -gt 0 ]; then
    failed=$((failed + ${#broken[@]}))
    printf 'not clean: %s\n' "${broken[@]}"
fi
status=0
[ "$failed" -eq 0 ] && [ "$tests_status" -eq 0 ] && [ "$page_status" -eq 0 ] || status=1
summary="$passed passed, $failed failed"
if [ "$skipped" -gt 0 ]; then
    summary+=", $skipped skipped"
    grep '^SKIPPED:' "$log" | sort | uniq -c
    if [ "${STALLSCOPE_REQUIRE:-}" = all ]; then
        echo "STALLSCOPE_REQUIRE=all: nothing may be skipped"
        status=1
    fi
fi
echo "$summary"
exit "$status"
