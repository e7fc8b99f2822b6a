#!/bin/sh
# A small PostgreSQL of its own for each instance of a load: instance.sh start|stop FOLDER NUMBER.
# The server listens on a socket in FOLDER, as port 56NUMBER.
set -eu
act=$1 folder=$2 number=$3
data=$folder/data-$number
port=56$number
for programs in /usr/lib/postgresql/*/bin; do :; done
as_owner() { setpriv --reuid postgres --regid postgres --init-groups -- "$@"; }

case $act in
start)
    if [ ! -d "$folder/template" ]; then
        as_owner "$programs/initdb" -A trust --no-sync -D "$folder/template" >/dev/null
        printf '%s\n' "unix_socket_directories = '$folder'" "listen_addresses = ''" 'fsync = off' \
            'shared_buffers = 32MB' 'max_connections = 20' >>"$folder/template/postgresql.conf"
        as_owner "$programs/pg_ctl" -w -s -l "$folder/log" -o '-p 5600' -D "$folder/template" start
        as_owner createdb -h "$folder" -p 5600 bench
        as_owner "$programs/pgbench" -q -i -h "$folder" -p 5600 bench
        as_owner "$programs/pg_ctl" -w -s -D "$folder/template" stop
    fi
    [ -d "$data" ] || as_owner cp -a "$folder/template" "$data"
    as_owner "$programs/pg_ctl" -w -s -l "$folder/log-$number" -o "-p $port" -D "$data" start
    ;;
stop)
    as_owner "$programs/pg_ctl" -w -s -m immediate -D "$data" stop
    ;;
esac
