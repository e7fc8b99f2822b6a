#!/usr/bin/env bash
# imports.sh [SITUATION...]
#
# Makes situations of the lab (six when none is named) with sar, atop and a monitor's script beside stallscope, imports
# all three, and compares causes. Fails where an import names another cause than the recording does, or names none
# without saying which column is missing. Needs root, as the lab does. Results stay in target/imports.
# STALLSCOPE and STALLSCOPE_LAB name other programs than target/debug/stallscope and target/debug/stallscope-lab.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/need.sh "imports beside a load" sysstat atop jq

built=${CARGO_TARGET_DIR:-target}/debug
stallscope=${STALLSCOPE:-$built/stallscope}
lab=${STALLSCOPE_LAB:-$built/stallscope-lab}
out=target/imports
if [ "$#" -eq 0 ]; then
    set -- cpu-quota cpu-neighbour io-sync io-slow-reads memory-thrash row-lock
fi
# What sar calls writes its binary files; it lies beside no other program.
for sadc in /usr/lib/sysstat/sadc /usr/lib64/sa/sadc /usr/libexec/sysstat/sadc; do
    [ -x "$sadc" ] && break
done

monitor() {
    echo time,load1,cpu_some_avg10,io_some_avg10,memory_some_avg10
    while true; do
        line=$(date +%s),$(cut -d' ' -f1 /proc/loadavg)
        for resource in cpu io memory; do
            line+=,$(sed -n 's/^some avg10=\([0-9.]*\) .*/\1/p' "/proc/pressure/$resource")
        done
        echo "$line"
        sleep 5
    done
}

beside=()
stop() {
    for pid in "${beside[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    wait "${beside[@]}" 2>/dev/null || true
    beside=()
}
trap stop EXIT

verdict() {
    "$stallscope" explain "$1" --json - 2>/dev/null | jq -r '.verdict.findings[0] | .cause + "\t" + .sentence'
}

wrong=0
for situation in "$@"; do
    here=$out/$situation
    rm -rf "$here"
    mkdir -p "$here"
    "$sadc" -S XALL 2 "$here/sar" >/dev/null 2>&1 &
    beside+=("$!")
    atop -w "$here/atop" 2 >/dev/null 2>&1 &
    beside+=("$!")
    monitor >"$here/monitor.csv" &
    beside+=("$!")
    "$lab" run "$situation" --stallscope "$stallscope" --out "$here/lab" >/dev/null 2>"$here/lab.txt" || true
    stop
    recording=$(find "$here/lab" -maxdepth 2 -name '*.stall' | head -1)
    if [ -z "$recording" ]; then
        echo "SKIPPED: $situation could not be made: $(tail -1 "$here/lab.txt")"
        continue
    fi
    right=$(verdict "$recording" | cut -f1)
    echo "$situation: stallscope $right"
    for source in sar atop monitor.csv; do
        "$stallscope" import "$here/$source" -o "$here/$source.stall" 2>"$here/$source.txt"
        answer=$(verdict "$here/$source.stall")
        cause=$(cut -f1 <<<"$answer")
        case "$cause" in
            "$right") says=same ;;
            undetermined)
                says="undetermined"
                grep -q 'not in it\|not in the file' <<<"$answer" || { says="NO MISSING COLUMN"; wrong=$((wrong + 1)); }
                ;;
            *)
                says="WRONG: $cause"
                wrong=$((wrong + 1))
                ;;
        esac
        printf '  %-12s %s: %s\n' "$source" "$says" "$(cut -f2 <<<"$answer" | cut -c1-160)"
    done
done
[ "$wrong" -eq 0 ] || { echo "$wrong wrong answers"; exit 1; }
