#!/usr/bin/env bash
# compare-trials.sh KIND COUNT [RESULTS]
#
# Comparisons whose answer is known, by `stallscope compare --run`, each of about 55 s, one after the
# other until RESULTS (default: target/compare-trials.jsonl) has COUNT of this KIND: interrupted, it goes
# on. One line of JSON a comparison. Run it on a machine that does nothing else.
#
#   same      the same command twice                                    truth: no difference
#   beside    the same command twice, a busy loop beside B alone         truth: no difference
#   more      B needs 5 % more CPU per request, a busy loop beside both  truth: B needs 5 % more
#   beside-more   the same, the busy loop beside B alone                 truth: B needs 5 % more
#
# compare-trials.sh score [RESULTS] counts what was said.
#
# Workloads take turns: nginx with wrk, redis with redis-benchmark, PostgreSQL with pgbench -S, and lighttpd with hey;
# PostgreSQL alone where B is to need more, since a query can be given a known amount of work.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kind=${1:?which kind: same, beside, more, beside-more, or score}
results=$(realpath -m "${3:-target/compare-trials.jsonl}")
[ "$kind" = score ] && results=$(realpath -m "${2:-target/compare-trials.jsonl}")
budget=${BUDGET:-55s}
# How long a run lasts.
each=${EACH:-4}

score() {
    python3 - "$results" <<'PY'
import collections, json, sys
said = collections.defaultdict(list)
for line in open(sys.argv[1]):
    one = json.loads(line)
    said[one["kind"]].append(one)
shown = lambda it: it is not None and (it[1] > 0 or it[2] < 0)
for kind, all in said.items():
    count = lambda key: sum(shown(it[key]) for it in all)
    found = sum(shown(it["cpu"]) and it["cpu"][1] > 0 for it in all)
    unknown = sum(it["alone"] is None or it["cpu"] is None for it in all)
    raised = sum(shown(it["alone"]) or shown(it["cpu"]) for it in all)
    print(f"{kind}: {len(all)} comparisons; differs as measured {count('plain')}, as if alone {count('alone')}, "
          f"CPU per request {count('cpu')}; either of the last two {raised}; more CPU found {found}; without an interval {unknown}")
PY
}

if [ "$kind" = score ]; then
    score
    exit
fi
count=${2:?how many comparisons}
scripts/need.sh "the trials" postgresql redis-server nginx-light lighttpd wrk hey build-essential python3
stallscope=${STALLSCOPE:-}
if [ -z "$stallscope" ]; then
    scripts/build.sh
    stallscope=$(realpath "${CARGO_TARGET_DIR:-target}/release/stallscope")
fi

home=$(mktemp -d /var/tmp/compare-trials.XXXXXX)
postgres=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
hog=
beside=
stop() {
    for pid in $beside $hog; do kill -KILL "$pid" 2>/dev/null || true; done
    [ -e "$home/nginx.pid" ] && kill "$(cat "$home/nginx.pid")" 2>/dev/null || true
    [ -e "$home/lighttpd.pid" ] && kill "$(cat "$home/lighttpd.pid")" 2>/dev/null || true
    [ -e "$home/redis.pid" ] && kill "$(cat "$home/redis.pid")" 2>/dev/null || true
    [ -e "$home/pg/data/postmaster.pid" ] && kill -QUIT "$(head -n 1 "$home/pg/data/postmaster.pid")" || true
    sleep 0.5
    rm -rf "$home"
}
trap stop EXIT
trap 'exit 130' INT TERM

start() {
    chmod 755 "$home"
    mkdir "$home/www"
    head -c 600 /dev/zero | tr '\0' x >"$home/www/index.html"
    cat >"$home/nginx.conf" <<CONF
worker_processes 2; pid $home/nginx.pid; error_log $home/nginx.log;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 1000000000;
  server { listen 127.0.0.1:18080 reuseport; root $home/www; } }
CONF
    PATH=$PATH:/usr/sbin nginx -c "$home/nginx.conf"
    printf 'server.port = 18081\nserver.bind = "127.0.0.1"\nserver.document-root = "%s/www"\nserver.pid-file = "%s/lighttpd.pid"\n' \
        "$home" "$home" >"$home/lighttpd.conf"
    PATH=$PATH:/usr/sbin lighttpd -f "$home/lighttpd.conf"
    redis-server --port 16399 --bind 127.0.0.1 --save '' --dir "$home" --daemonize yes \
        --pidfile "$home/redis.pid" >/dev/null
    local run=()
    mkdir "$home/pg"
    if [ "$(id -u)" = 0 ]; then
        chown postgres "$home/pg"
        run=(setpriv --reuid postgres --regid postgres --clear-groups)
    fi
    (
        cd "$home/pg"
        "${run[@]}" "$postgres/initdb" -D data -A trust -U trials --no-sync >/dev/null
        "${run[@]}" "$postgres/pg_ctl" -D data -o "-p 15499 -k $home/pg -c autovacuum=off" -l log -w start >/dev/null
    )
    createdb -h "$home/pg" -p 15499 -U trials bench
    pgbench -i -s 5 -q -h "$home/pg" -p 15499 -U trials bench >/dev/null 2>&1
    cat >"$home/work.sql" <<'SQL'
\set aid random(1, 100000)
SELECT abalance, md5(repeat('x', :work)) FROM pgbench_accounts WHERE aid = :aid;
SQL
    printf 'int main(void) { volatile unsigned long x = 0; for (;;) x++; }\n' >"$home/hog.c"
    cc -O1 -o "$home/hog" "$home/hog.c"
}

bench="-h $home/pg -p 15499 -U trials bench"
with_work() { # WORK
    echo "pgbench -n -M prepared -c 4 -j 2 -T $each -f $home/work.sql -D work=$1 $bench"
}

# CPU time of a transaction with so much work, ns, alone.
cpu_of() { # WORK
    # shellcheck disable=SC2046
    "$stallscope" run --quiet --no-report --json "$home/cpu.json" -o "$home/cpu-$1-$RANDOM.stall" \
        -- $(with_work "$1") >/dev/null 2>&1
    python3 - "$home/cpu.json" <<'PY'
import json, sys
report = json.load(open(sys.argv[1]))
cpu = sum(it["cpu_ns"] for it in report["subjects"] if it["role"] in ("target", "generator"))
seconds = (report["window"]["end"] - report["window"]["start"]) / 1e9
rate = next(it["mean"] for it in report["signals"] if it["name"] == "throughput")
print(cpu / seconds / rate)
PY
}

# Bytes that A's transactions hash: twice as many take no other way through the allocator.
few=12000

# The bytes that make a transaction take 5 % more CPU, by how many times as much it takes with twice as many: by 31 pairs, of
# which ranks are taken, since which client shares a CPU with whom changes the CPU time of a run by a tenth.
more_work() {
    local pairs=() turn
    for turn in {1..31}; do
        pairs+=("$(cpu_of $few),$(cpu_of $((2 * few)))")
    done
    python3 -c 'import math, statistics, sys
few, pairs = int(sys.argv[1]), [tuple(map(float, it.split(","))) for it in sys.argv[2:]]
logs = [math.log(many / few) for few, many in pairs]
times = math.exp(statistics.median((a + b) / 2 for at, a in enumerate(logs) for b in logs[at:]))
print(round(few + 0.05 * few / (times - 1)))' "$few" "${pairs[@]}"
}

# Lets the busy loop run for as long as the newest run is of command B.
beside_b() { # FOLDER
    local logs state=STOP wanted
    shopt -s nullglob
    exec {never}<> <(:)
    while kill -0 "$hog" 2>/dev/null; do
        logs=("$1"/*.log)
        wanted=STOP
        if [ ${#logs[@]} -gt 0 ]; then
            case "${logs[-1]}" in *-B.log) wanted=CONT ;; esac
        fi
        [ "$wanted" = "$state" ] || kill "-$wanted" "$hog"
        state=$wanted
        read -rt 0.05 -u "$never" || true
    done
}

comparison() { # NUMBER
    local workload a b folder
    workload=$(echo nginx redis postgres lighttpd | cut -d' ' -f$(($1 % 4 + 1)))
    case "$kind" in *more) workload=postgres ;; esac
    case "$workload" in
        nginx) a="wrk -t2 -c64 -d$each http://127.0.0.1:18080/" ;;
        redis) a="redis-benchmark -p 16399 -t get -c 50 -n $((75000 * each))" ;;
        lighttpd) a="hey -z ${each}s -c 32 http://127.0.0.1:18081/index.html" ;;
        postgres) a="pgbench -n -S -c 4 -j 2 -T $each $bench" ;;
    esac
    b=$a
    case "$kind" in *more) a=$(with_work "$few") b=$(with_work "$more") ;; esac
    folder=$home/trial-$1
    if [ "$kind" != same ]; then
        "$home/hog" &
        hog=$!
    fi
    case "$kind" in beside*)
        kill -STOP "$hog"
        beside_b "$folder" &
        beside=$!
        ;;
    esac
    if "$stallscope" compare --run "$a" --run "$b" --folder "$folder" --precision 0.1% --budget "$budget" \
        --json "$home/comparison.json" >"$home/said" 2>&1; then
        KIND=$kind WORKLOAD=$workload python3 - "$home/comparison.json" >>"$results" <<'PY'
import json, os, sys
comparison = json.load(open(sys.argv[1]))
def difference(key):
    figure = next((it for it in comparison["figures"] if it["key"] == key), None)
    found = figure and figure["differences"][0]
    if not found or not found["interval"]:
        return None
    return [round(it, 4) for it in (found["relative"], found["interval"]["low"], found["interval"]["high"])]
experiment = comparison["experiment"]
print(json.dumps({"kind": os.environ["KIND"], "workload": os.environ["WORKLOAD"], "rounds": experiment["rounds"],
    "voided": len(experiment["voided"]), "seed": experiment["seed"], "plain": difference("throughput"),
    "alone": difference("throughput.alone"), "cpu": difference("cpu.both"),
    "taken": [round(sum(run["taken"]["alone"] for run in group["runs"]) / len(group["runs"]), 3)
        for group in comparison["groups"]]}))
PY
    else
        tail -n 3 "$home/said" >&2
    fi
    for pid in $beside $hog; do
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    hog='' beside=''
    rm -rf "$folder"
}

mkdir -p "$(dirname "$results")"
touch "$results"
done_so_far() { grep -c "\"kind\": \"$kind\"," "$results" || true; }
start
more=$few
case "$kind" in *more)
    more=$(more_work)
    echo "work of B: $more instead of $few bytes" >&2
    ;;
esac
tries=0
while [ "$(done_so_far)" -lt "$count" ] && [ "$tries" -lt $((2 * count)) ]; do
    comparison "$(done_so_far)"
    tries=$((tries + 1))
    tail -n 1 "$results" | cut -c1-300 >&2
done
score
