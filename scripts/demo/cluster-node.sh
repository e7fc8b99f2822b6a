#!/usr/bin/env bash
# A node of a cluster, made of what this kernel has: cluster-node.sh make|size|start|restart|stop|unmake FOLDER NUMBER [CPUS BYTES].
#
# A node has a network of its own (10.213.77.NUMBER on a bridge), a disk of its own (an image on a loop device), a PostgreSQL
# in control groups that stand for its CPUs and memory, and a node_exporter that sees these. FOLDER/settings says the rest.
set -euo pipefail
act=$1 folder=$2 number=$3
# shellcheck source=/dev/null
. "$folder/settings"
node=$name-$number
here=$folder/node-$number
data=$here/disk/data
address=10.213.77.$number
as_owner() { setpriv --reuid postgres --regid postgres --init-groups -- "$@"; }
each_group() { for mount in $hierarchies; do echo "$mount/$node"; done; }
# On one CPU of this machine, so that a quota is not spent in slices on both.
enter() {
    for group in $(each_group); do echo "$BASHPID" >"$group/cgroup.procs"; done
    taskset -pc $((number % $(nproc))) "$BASHPID" >/dev/null
}

size() { # CPUS BYTES
    echo $(($1 * cpu_us)) >"$v1_cpu/$node/cpu.cfs_quota_us"
    echo "$2" >"$v1_memory/$node/memory.limit_in_bytes"
    echo "$disk $(($1 * cpu_reads))" >"$v1_io/$node/blkio.throttle.read_iops_device"
}

start_database() {
    (
        enter
        exec nsenter --net="/run/netns/$node" unshare --mount -- setpriv --reuid postgres --regid postgres --init-groups -- \
            "$bin/pg_ctl" -w -s -t 60 -l "$here/run/log" -o "-h $address -k $here/run" -D "$data" start
    )
}
stop_database() { as_owner "$bin/pg_ctl" -w -s -t 60 -m fast -D "$data" stop; }

# What a node of a distributed database does without being asked (heartbeats, compaction): some CPU time, whatever the load.
start_own_work() {
    (
        enter
        exec nice -n -10 python3 -c '
import os, sys, time
part = float(sys.argv[1])
began, done = time.monotonic(), 0.0
while True:
    # It does not catch up with more than 50 ms.
    began = max(began, time.monotonic() - (done + 0.05) / part)
    while done < (time.monotonic() - began) * part:
        for _ in range(200): pass
        done = time.process_time()
    time.sleep(0.01)
' "$own_cpu"
    ) &
    echo $! >"$here/own-work.pid"
}

start_exporter() {
    # `ip netns exec` would hide the control groups behind a /sys of its own.
    nsenter --net="/run/netns/$node" unshare --mount --uts -- sh -ec '
        hostname "$1"
        mount -t tmpfs node "$2/pressure"
        for it in cpu io memory; do
            touch "$2/pressure/$it"
            mount --bind "$3/$it.pressure" "$2/pressure/$it"
        done
        shift 3
        exec "$@"' sh "node-$number" "$here/run/proc" "$unified/$node" \
        prometheus-node-exporter --web.listen-address="$address:9100" --path.procfs="$here/run/proc" \
        --collector.disable-defaults --collector.cpu --collector.stat --collector.meminfo --collector.pressure \
        --collector.diskstats --collector.diskstats.device-include="^$(cat "$here/loop")\$" --collector.diskstats.device-exclude= \
        --collector.netdev --collector.uname --collector.textfile --collector.textfile.directory="$here/run/text" \
        </dev/null >"$here/run/exporter.log" 2>&1 &
    echo $! >"$here/exporter.pid"
}

end() { # FILE
    local pid
    pid=$(cat "$1" 2>/dev/null) || return 0
    kill "$pid" 2>/dev/null || true
    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
    rm -f "$1"
}

case $act in
make)
    mkdir -p "$here/disk" "$here/run"
    mount -t tmpfs -o size=16m "$node" "$here/run"
    mkdir -p "$here/run/proc/pressure" "$here/run/text"
    ln -s /proc/diskstats "$here/run/proc/diskstats"
    ln -s /proc/net "$here/run/proc/net"
    chown postgres "$here/run"
    ip netns add "$node"
    # Names of interfaces have 15 letters at most.
    ip link add "$bridge-$number" type veth peer name eth0 netns "$node"
    ip link set "$bridge-$number" master "$bridge" up
    ip -n "$node" address add "$address/24" dev eth0
    ip -n "$node" link set lo up
    ip -n "$node" link set eth0 up
    for group in $(each_group); do mkdir "$group"; done
    echo "$period_us" >"$v1_cpu/$node/cpu.cfs_period_us"
    # Each task of the root group weighs as much as a whole group.
    echo 8192 >"$v1_cpu/$node/cpu.shares"
    cp --sparse=always "$folder/template.img" "$here/image"
    loop=$(losetup --find --show --direct-io=on "$here/image")
    basename "$loop" >"$here/loop"
    # The database's reads are of single pages; more at once would fill the small caches with what nobody asks for.
    blockdev --setra 16 "$loop"
    mount -o noatime "$loop" "$here/disk"
    ;;
size) size "$4" "$5" ;;
start)
    start_database
    start_own_work
    start_exporter
    ;;
restart)
    stop_database
    # The tables and their indexes: nobody has written to them since.
    find "$data/base" -type f -exec dd of={} oflag=nocache conv=notrunc,fdatasync count=0 status=none \;
    start_database
    ;;
stop)
    end "$here/exporter.pid"
    end "$here/own-work.pid"
    stop_database
    ;;
unmake)
    end "$here/exporter.pid"
    echo 1 >"$unified/$node/cgroup.kill" 2>/dev/null || true
    for _ in $(seq 100); do
        [ -n "$(cat "$unified/$node/cgroup.procs" 2>/dev/null)" ] || break
        sleep 0.05
    done
    umount "$here/disk" 2>/dev/null || true
    [ ! -e "$here/loop" ] || losetup -d "/dev/$(cat "$here/loop")" 2>/dev/null || true
    umount "$here/run" 2>/dev/null || true
    ip netns del "$node" 2>/dev/null || true
    ip link del "$bridge-$number" 2>/dev/null || true
    for group in $(each_group); do rmdir "$group" 2>/dev/null || true; done
    ;;
esac
