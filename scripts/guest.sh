#!/usr/bin/env bash
# guest.sh COMMAND...
#
# Runs a command as root on Debian's kernel in an emulated machine whose control groups are in the unified
# hierarchy alone (cgroup v2), for what this machine's own kernel or layout cannot show. The guest sees this
# machine's files; what it writes is in its memory and goes with it. It has a disk of its own at /mnt/disk and no
# network. Nothing is accelerated: it computes ten to twenty times slower. The exit status is the command's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/need.sh "an emulated machine" qemu-system-x86 busybox-static e2fsprogs xz-utils >&2
suite=${GUEST_SUITE:-trixie}
folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")/guest/$suite

# Modules that the first minute needs, and those that Debian's kernel loads when somebody asks for sockets.
wanted="virtio_pci 9pnet_virtio 9p overlay virtio_blk ext4 crc32c_generic loop unix_diag tcp_diag"

# The kernel and its modules, from Debian's package, which need not be installed. The suite need not be this machine's:
# what apt knows of it is kept beside.
if [ "$(cat "$folder/wanted" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"/lists/partial
    (
        cd "$folder"
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" > sources.list
        apt="-qq -o Acquire::Retries=3 -o Dir::Etc::SourceList=$folder/sources.list -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=$folder/lists \
            -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root"
        # shellcheck disable=SC2086 # options, several of them
        {
            apt-get $apt update
            package=$(apt-cache $apt depends linux-image-amd64 | awk '/Depends:/ { print $2; exit }')
            apt-get $apt download "$package"
        } >&2
        dpkg-deb -x linux-image-*.deb unpacked
        rm -r linux-image-*.deb lists
        # Of the modules only what a guest needs: a later release has them elsewhere, and compressed.
        from=unpacked/lib/modules
        [ ! -d unpacked/usr/lib/modules ] || from=unpacked/usr/lib/modules
        version=$(basename "$from"/*)
        for part in arch/x86/crypto crypto drivers/block drivers/virtio fs/9p fs/ext4 fs/fscache fs/jbd2 fs/mbcache.ko \
            fs/mbcache.ko.xz fs/netfs fs/overlayfs lib net/9p net/ipv4 net/unix; do
            [ -e "$from/$version/kernel/$part" ] || continue
            mkdir -p "modules/lib/modules/$version/kernel/$(dirname "$part")"
            mv "$from/$version/kernel/$part" "modules/lib/modules/$version/kernel/$part"
        done
        find modules -name '*.xz' -exec unxz {} +
        busybox depmod -b modules "$version"
        mv "unpacked/boot/vmlinuz-$version" kernel
        rm -r unpacked
        echo "$wanted" > wanted
    )
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
first=$work/first
mkdir -p "$first"/{bin,proc,sys,dev,host,own,root}
cp "$(command -v busybox)" "$first/bin/busybox"

# The modules, with what they need.
version=$(basename "$folder"/modules/lib/modules/*)
modules=$folder/modules/lib/modules/$version
mkdir -p "$first/lib/modules/$version"
needed=$(awk -F: -v wanted="$wanted" '
    BEGIN { n = split(wanted, names, " "); for (i = 1; i <= n; i++) is_wanted[names[i]] }
    { name = $1; sub(/.*\//, "", name); sub(/\.ko$/, "", name) }
    name in is_wanted { print $1; print $2 }' "$modules/modules.dep")
for file in $needed; do
    mkdir -p "$first/lib/modules/$version/$(dirname "$file")"
    cp -n "$modules/$file" "$first/lib/modules/$version/$file"
done
busybox depmod -b "$first" "$version"

cp "$folder/wanted" "$first/wanted"
cat > "$first/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in $(cat /wanted); do
    # Built into some kernels.
    modprobe -q "$module"
done
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 host /host
mount -t tmpfs -o size=75% own /own
mkdir /own/upper /own/work
mount -t overlay -o lowerdir=/host,upperdir=/own/upper,workdir=/own/work root /root
for of in proc sys dev; do mount --move /$of /root/$of; done
mount -t cgroup2 cgroup /root/sys/fs/cgroup
mount -t tmpfs run /root/run
mount -t tracefs tracefs /root/sys/kernel/tracing
mount -t bpf bpf /root/sys/fs/bpf
mkdir -p /root/mnt/disk /root/dev/shm
mount -t tmpfs shm /root/dev/shm
ip link set lo up
cp /command /root/run/command
cat > /root/run/inside <<'INSIDE'
mkfs.ext4 -q /dev/vda && mount /dev/vda /mnt/disk
# As under systemd: nothing runs in the root itself, so that its controllers can be given to those below.
mkdir /sys/fs/cgroup/session
echo $$ > /sys/fs/cgroup/session/cgroup.procs
# As bash quoted it.
bash /run/command
echo "guest: status $?"
INSIDE
chroot /root /bin/sh /run/inside
poweroff -f
INIT
chmod +x "$first/init"
{
    printf 'export PATH=%q HOME=/root\n' "$PATH"
    [ -z "${STALLSCOPE_REQUIRE:-}" ] || printf 'export STALLSCOPE_REQUIRE=%q\n' "$STALLSCOPE_REQUIRE"
    printf 'cd %q\n' "$PWD"
    printf '%q ' "$@"
    echo
} > "$first/command"
(cd "$first" && find . | busybox cpio -o -H newc 2>/dev/null) | gzip -1 > "$work/initramfs"
truncate -s 512M "$work/disk"

# The last line says how it went; it is not shown.
qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 3G -nographic -no-reboot -nic none \
    -kernel "$folder/kernel" -initrd "$work/initramfs" \
    -append "console=ttyS0 quiet loglevel=3 panic=-1 psi=1" \
    -drive "file=$work/disk,format=raw,if=virtio" \
    -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap </dev/null |
    tr -d '\r' | tee "$work/said" | sed '/guest: status [0-9]*$/d'
# What the firmware writes has no line's end.
status=$(sed -n 's/^.*guest: status \([0-9]*\)$/\1/p' "$work/said")
[ -n "$status" ] || { echo "The emulated machine ended before the command did" >&2; exit 125; }
exit "$status"
