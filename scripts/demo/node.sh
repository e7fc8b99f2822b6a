#!/bin/sh
# A node of a small cluster for each instance of a load: node.sh template|start|stop FOLDER ARGUMENT...
#   template FOLDER DATA SCALE      makes the data that nodes are copies of: 100,000 rows, 15 MB, per unit of SCALE
#   start FOLDER NUMBER DATA OWN    copies the data anew, and starts the server in the groups of whoever calls, and
#                                   beside it what a node does for itself: OWN CPUs on average
#   stop FOLDER NUMBER DATA         ends both
# The server listens on a socket in FOLDER, as port 57NUMBER.
set -eu
act=$1 folder=$2
bin=$(for it in /usr/lib/postgresql/*/bin; do echo "$it"; done | sort -V | tail -1)
as_owner() { setpriv --reuid postgres --regid postgres --init-groups -- "$@"; }
serve() { as_owner "$bin/pg_ctl" -w -s -l "$folder/log-$2" -o "-p 57$2" -D "$1" start; }
end() { as_owner "$bin/pg_ctl" -w -s -m "$2" -D "$1" stop; }

case $act in
template)
    data=$folder/template-$3
    # Little log: it would count into a node's memory.
    as_owner "$bin/initdb" -A trust --no-sync --wal-segsize 1 -D "$data" >/dev/null
    cat >>"$data/postgresql.conf" <<CONF
unix_socket_directories = '$folder'
listen_addresses = ''
fsync = off
autovacuum = off
shared_buffers = 4MB
max_connections = 20
wal_level = minimal
max_wal_senders = 0
min_wal_size = 2MB
max_wal_size = 4MB
CONF
    serve "$data" 00
    "$bin/pgbench" -q -i -s "$4" -h "$folder" -p 5700 -U postgres postgres 2>/dev/null
    end "$data" fast
    sync -f "$data"
    ;;
start)
    template=$folder/template-$4 data=$folder/data-$3-$4
    [ -d "$data" ] || as_owner cp -a "$template" "$data"
    # What is copied stays in the page cache, and counts into the memory of the group that copies it.
    (cd "$template" && find base -type f -size +900k) | while read -r file; do
        rm "$data/$file"
        as_owner cp -a "$template/$file" "$data/$file"
    done
    sync -f "$data"
    serve "$data" "$3"
    # Ahead of the load, as daemons are: it does not get less when there is more load. What was missed is made up.
    nice -n -15 python3 - "$5" "$data/postmaster.pid" >/dev/null 2>&1 <<'PYTHON' &
import os, sys, time

cpus, alive = float(sys.argv[1]), sys.argv[2]
every = 0.2
tick = time.monotonic()
done = time.process_time()
while os.path.exists(alive):
    done += cpus * every
    while time.process_time() < done:
        pass
    tick += every
    time.sleep(max(0, tick - time.monotonic()))
PYTHON
    ;;
stop)
    end "$folder/data-$3-$4" immediate
    ;;
esac
