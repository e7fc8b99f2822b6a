#!/usr/bin/env bash
# need.sh PURPOSE PACKAGE...
#
# Makes sure that packages (by their Debian names) are there; silent when they are. On Debian and
# Ubuntu it installs what is missing, after asking at a terminal; YES=1 answers for you, and without
# a terminal it goes on. Elsewhere it says what is needed and stops if a command is really absent.
# `compilers` stands for all that building the program takes.
set -euo pipefail

# A program from PATH or from where PostgreSQL's packages put theirs.
has_program() {
    local dir
    command -v "$1" >/dev/null && return 0
    for dir in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin; do
        [ -x "$dir/$1" ] && return 0
    done
    return 1
}

# Whether the commands that a package is wanted for are here, whoever brought them: a compiler
# may be clang, a PostgreSQL may come without the package that only points to the newest one.
commands_present() {
    case "$1" in
        build-essential) has_program cc && has_program make ;;
        libelf-dev) [ -e /usr/include/libelf.h ] ;;
        zlib1g-dev) [ -e /usr/include/zlib.h ] ;;
        postgresql) has_program initdb && has_program postgres && has_program pgbench ;;
        util-linux) has_program setpriv && has_program unshare ;;
        e2fsprogs) has_program mkfs.ext4 ;;
        iproute2) has_program ip ;;
        redis-server) has_program redis-server && has_program redis-benchmark ;;
        apache2-utils) has_program ab ;;
        nodejs) has_program node ;;
        openjdk-17-jdk-headless) has_program java && has_program javac ;;
        golang-go) has_program go ;;
        nginx-light) has_program nginx || [ -x /usr/sbin/nginx ] ;;
        mariadb-server) has_program mariadbd || [ -x /usr/sbin/mariadbd ] ;;
        haproxy | pgbouncer) has_program "$1" || [ -x "/usr/sbin/$1" ] ;;
        openssh-server) has_program sshd || [ -x /usr/sbin/sshd ] ;;
        openssh-client) has_program ssh && has_program ssh-keygen ;;
        busybox-static) has_program busybox ;;
        qemu-system-x86) has_program qemu-system-x86_64 ;;
        xz-utils) has_program xz ;;
        maven) has_program mvn ;;
        prometheus) has_program prometheus && has_program promtool ;;
        libnbd-bin) has_program nbdfuse ;;
        wordpress) [ -e /usr/share/wordpress/wp-load.php ] ;;
        wordpress-theme-*) [ -e "/usr/share/wordpress/wp-content/themes/${1#wordpress-theme-}" ] ;;
        libapache2-mod-php) compgen -G '/usr/lib/apache2/modules/libphp*.so' >/dev/null ;;
        php-cli) has_program php ;;
        php-mysql) has_program php && php -m | grep -qx mysqli ;;
        php-redis) has_program php && php -m | grep -qx redis ;;
        linux-perf) has_program perf ;;
        python3-venv) has_program python3 && python3 -c 'import ensurepip, venv' 2>/dev/null ;;
        *) has_program "$1" ;;
    esac
}

installed() {
    local status
    status=$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) || return 1
    [ "$status" = installed ]
}

# The same things where packages are called otherwise.
in_other_words() {
    case "$1" in
        build-essential) echo "a C compiler as cc, and make" ;;
        clang) echo "clang 11 or newer, for the programs in the kernel" ;;
        libelf-dev) echo "the headers of libelf (elfutils-libelf-devel, libelf-devel)" ;;
        zlib1g-dev) echo "the headers of zlib (zlib-devel)" ;;
        postgresql) echo "the PostgreSQL server with initdb and pgbench" ;;
        util-linux) echo "setpriv and unshare (util-linux)" ;;
        e2fsprogs) echo "mkfs.ext4 (e2fsprogs)" ;;
        iproute2) echo "ip (iproute2)" ;;
        apache2-utils) echo "ab (apache2-utils, httpd-tools)" ;;
        nodejs) echo "Node.js 20.19 or newer" ;;
        openjdk-17-jdk-headless) echo "a JDK of version 17 or newer" ;;
        golang-go) echo "Go" ;;
        linux-perf) echo "perf (linux-perf, linux-tools)" ;;
        python3-venv) echo "python3 with its modules venv and ensurepip" ;;
        *) echo "$1" ;;
    esac
}

agreed() {
    [ "${YES:-}" = 1 ] && return 0
    [ -t 0 ] || return 0
    local answer
    read -r -p "Install them with apt-get? [y/N] " answer || return 1
    case "$answer" in
        [yY] | [yY][eE][sS]) return 0 ;;
        *) return 1 ;;
    esac
}

give_up() {
    echo "Not installed. $1 with:" >&2
    echo "  $2" >&2
    exit 1
}

install_with_apt() {
    local by_hand="apt-get update && apt-get install -y --no-install-recommends $*"
    local -a as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        by_hand="sudo apt-get update && sudo apt-get install -y --no-install-recommends $*"
        command -v sudo >/dev/null || give_up "This needs root; as root, install" "${by_hand//sudo /}"
        as_root=(sudo)
    fi
    agreed || give_up "Install" "$by_hand"
    # An outdated list may still do, so only the installation decides.
    "${as_root[@]}" apt-get update || echo "apt-get update did not succeed; going on with the lists that are here" >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "$@" || give_up "apt-get stopped; install" "$by_hand"
}

main() {
    local purpose=$1 package
    shift
    local -a missing=() wanted=()
    for package in "$@"; do
        case "$package" in
            compilers) wanted+=(build-essential clang libelf-dev zlib1g-dev pkg-config) ;;
            *) wanted+=("$package") ;;
        esac
    done
    for package in "${wanted[@]}"; do
        commands_present "$package" && continue
        if command -v apt-get >/dev/null && installed "$package"; then
            continue
        fi
        missing+=("$package")
    done
    [ "${#missing[@]}" -eq 0 ] && return 0

    echo "Needed for $purpose and not installed: ${missing[*]}" >&2
    if command -v apt-get >/dev/null; then
        install_with_apt "${missing[@]}"
        return 0
    fi
    echo "Install with this system's package manager, then run the same command again:" >&2
    for package in "${missing[@]}"; do
        echo "  $(in_other_words "$package")" >&2
    done
    exit 1
}

if [ "$#" -lt 2 ]; then
    echo "usage: scripts/need.sh PURPOSE PACKAGE..." >&2
    exit 2
fi
main "$@"
