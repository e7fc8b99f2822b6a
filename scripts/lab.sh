#!/usr/bin/env bash
# Every situation with a known cause, several times, what taking its cause away changes, then the score.
# Interrupted, it goes on where it stopped.
#
#   SET=strangers-1    which set of situations (see: stallscope-lab list)
#   BY=unknown         a variant, in which the program knows less of the load (lab/README.md)
#   SHARD=2/4          only a part of them, of which each of four takes less than 20 minutes; the score
#                      comes when the last one is there
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

set=${SET:-tuned}
by=${BY:-usual}
shard=${SHARD:-1/1}

scripts/need.sh "the lab" postgresql compilers util-linux e2fsprogs iproute2
case $set in
    tuned) ;;
    held-out) scripts/need.sh "the lab" redis-server nginx-light mariadb-server sysbench ;;
    strangers-*)
        scripts/need.sh "the lab" redis-server nginx-light mariadb-server sysbench haproxy memcached \
            pgbouncer wrk hey python3 nodejs openjdk-17-jdk-headless golang-go apache2 apache2-utils \
            lighttpd lighttpd-mod-deflate openssl perl libapache2-mod-php php-redis
        ;;
esac
scripts/build.sh

built=${CARGO_TARGET_DIR:-target}/release
"$built/stallscope-lab" run --set "$set" --by "$by" --shard "$shard" --repeat 3
"$built/stallscope-lab" validate --set "$set" --shard "$shard" --only-missing
exec "$built/stallscope-lab" score --set "$set" --by "$by"
