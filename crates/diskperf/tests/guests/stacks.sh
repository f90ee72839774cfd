# Shell functions that build the storage stacks of the guard's tests in a guest, and take them down again.
# `NAME_up` builds the stack NAME on blank disks; `NAME_down` takes it down. The disks are
#   vda, vdb      virtio, 24 and 25 MiB, with the serial numbers FIRST and SECOND
#   nvme0n1, n2   two namespaces of one NVMe disk, 26 and 27 MiB
#   sda, sdb      virtio-scsi, 28 and 29 MiB
#   sdc, sdd      two paths to one disk of 30 MiB
# and those of scsi_debug, null_blk, zram and nbd, which a stack makes for itself.

DISKS="vda vdb nvme0n1 nvme0n2 sda sdb"

# BusyBox prefers its own tools: those of the same name from other packages need their path.

# Fills disks with zeros, and removes their partitions.
wipe() {
    for disk in "$@"; do
        do_ /sbin/blkdiscard -z /dev/$disk
        blockdev --rereadpt /dev/$disk 2> /dev/null
    done
    true
}

# The checksums of whole disks, read past the page cache. That holds blocks of mounted file systems which are not on the
# disk yet: ext4 fills the bitmaps of unused groups there.
checksums() {
    sync
    for disk in "$@"; do
        echo "$(dd if=/dev/$disk iflag=direct bs=1M 2> /tmp/step | md5sum) $disk"
        grep -q records /tmp/step || fail "$disk is not read: $(cat /tmp/step)"
    done
}

# Waits for a device.
wait_for() {
    for _ in $(seq 100); do [ -e "$1" ] && return; sleep 0.1; done
    fail "no $1"
}

# Gives the SCSI disks their names again, one after the other. Kernels probe them side by side, in any order.
name_disks() {
    for disk in /sys/block/sd*; do echo 1 > "$disk/device/delete"; done
    target=0
    for name in sda sdb sdc sdd; do
        for _ in $(seq 100); do [ -e /sys/block/$name ] || break; sleep 0.1; done
        for host in /sys/class/scsi_host/host*; do echo "0 $target 0" > "$host/scan"; done
        wait_for /dev/$name
        target=$((target + 1))
    done
}

# Mounts an ext4 that is made here.
ext4_at() { do_ mkfs.ext4 -q -F -E lazy_itable_init=0 "$1"; do_ mkdir -p "$2"; do_ mount -t ext4 "$1" "$2"; echo data > "$2/file"; sync; }

# Tries to overwrite a device, with all consent that a user can give: the words that name it are those with which
# diskperf describes it. The name may be a pattern.
refused() {
    for device in $1; do
        set -- run smoke "new:ext4@$device" --rounds 1 --destroy-data
        diskperf "$@" --confirm nothing 2> /tmp/told
        status=$?
        words=$(sed -n 's/^error: [^(]*(\([^)]*\)) is not overwritten: "nothing" is not its \(.*\)/\2: \1/p' /tmp/told)
        case $words in
            "") ;;
            *size:*) words=${words#*: } ;;
            *) words=${words#*: }; words=${words%, *} ;;
        esac
        if [ -n "$words" ]; then
            diskperf "$@" --confirm "$(echo "$words" | sed 's/,//g')"
            return
        fi
        cat /tmp/told >&2
        return $status
    done
}

# Lets diskperf write a file system to a free device, without any consent.
accepted() { diskperf io randread "new:ext4@$1" --size 1MiB --time 50ms --rounds 1 > /dev/null; }

lvm_() { do_ lvm "$@"; }

partitions_up() {
    # GPT: mounted, blank, swap, and an ext4 that is not mounted.
    printf 'label: gpt\nstart=2048,size=16384\nsize=8192\nsize=8192\nsize=8192\n' > /tmp/table
    do_ sh -c 'sfdisk --no-tell-kernel /dev/vda < /tmp/table'
    # MBR: a primary, an extended with two logical ones.
    printf 'label: dos\nstart=2048,size=8192\nstart=10240,type=5\nstart=12288,size=12288\nstart=26624,size=12288\n' > /tmp/table
    do_ sh -c 'sfdisk --no-tell-kernel /dev/nvme0n1 < /tmp/table'
    do_ blockdev --rereadpt /dev/vda
    do_ blockdev --rereadpt /dev/nvme0n1
    for part in vda4 nvme0n1p6; do wait_for /dev/$part; done
    ext4_at /dev/vda1 /mnt/gpt
    do_ mkswap /dev/vda3
    do_ swapon /dev/vda3
    do_ mkfs.ext4 -q -F /dev/vda4
    ext4_at /dev/nvme0n1p5 /mnt/logical
    # A table alone, in use by nothing.
    do_ sh -c 'echo "start=2048,size=8192" | sfdisk --no-tell-kernel /dev/sda'
    do_ blockdev --rereadpt /dev/sda
    wait_for /dev/sda1
    # The links of a system with udev.
    ln -s udevadm /sbin/systemd-udevd
    /sbin/systemd-udevd --daemon > /dev/null 2>&1
    do_ udevadm trigger --action=add --subsystem-match=block
    do_ udevadm settle --timeout=30
    ln -s "$(readlink -f /dev/vda)" /tmp/link
    # Namespaces get their names in any order, so the slot of a name is not known before.
    for slot in /dev/disk/by-path/*-nvme-?; do
        [ "$(readlink -f "$slot")" != /dev/nvme0n1 ] || ln -s "$slot" /tmp/slot
    done
    mkdir -p /tmp/nodes
    mknod /tmp/nodes/disk b $(tr : ' ' < /sys/block/vda/dev)
}
partitions_down() {
    kill $(pidof systemd-udevd)
    do_ umount /mnt/gpt; do_ swapoff /dev/vda3; do_ umount /mnt/logical
    wipe vda nvme0n1 sda
}

lvm_up() {
    lvm_conf
    lvm_ vgcreate --config 'metadata { pvmetadatacopies=1 }' -s 1m vg /dev/vda /dev/sda
    lvm_ lvcreate -y -Zn -Wn -n used -l 8 vg /dev/vda
    lvm_ lvcreate -y -Zn -Wn -n free -l 4 vg /dev/vda
    dd if=/dev/zero of=/dev/vg/free bs=1M > /dev/null 2>&1
    ext4_at /dev/vg/used /mnt/used
    lvm_ lvcreate -y -s -n snap -l 4 vg/used
    lvm_ vgcreate -s 1m thin /dev/sdb
    lvm_ lvcreate -y -Zn --type thin-pool -l 12 -n pool --poolmetadatasize 2m thin
    lvm_ lvcreate -y -V 16m -T thin/pool -n used
    lvm_ lvcreate -y -V 18m -T thin/pool -n free
    ext4_at /dev/thin/used /mnt/thin
    # Not in use: a group that is not active, one that is exported, and a volume without a group.
    lvm_ vgcreate -s 1m idle /dev/nvme0n1
    lvm_ lvcreate -y -an -Zn -Wn -n volume -l 4 idle
    lvm_ vgcreate -s 1m away /dev/nvme0n2
    lvm_ vgexport away
    lvm_ pvcreate /dev/vdb
}
lvm_down() {
    do_ umount /mnt/used; do_ umount /mnt/thin
    lvm_ vgchange -an vg thin
    wipe $DISKS
}

raid_up() {
    do_ mdadm --create /dev/md0 --run --level=1 --raid-devices=2 --metadata=1.2 --assume-clean --bitmap=none /dev/vda /dev/vdb
    ext4_at /dev/md0 /mnt/raid
    do_ mdadm --create /dev/md1 --run --level=1 --raid-devices=2 --metadata=1.0 --assume-clean --bitmap=none /dev/sda /dev/sdb
    do_ mdadm --create /dev/md2 --run --level=0 --raid-devices=2 --metadata=1.2 /dev/nvme0n1 /dev/nvme0n2
    do_ mkfs.ext4 -q -F /dev/md2
    do_ mdadm --stop /dev/md2
}
raid_down() {
    do_ umount /mnt/raid; do_ mdadm --stop /dev/md0; do_ mdadm --stop /dev/md1
    wipe $DISKS
}

mapped_up() {
    key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
    do_ dmsetup create secret --table "0 32768 crypt aes-xts-plain64 $key 0 /dev/vda 0"
    ext4_at /dev/mapper/secret /mnt/secret
    echo words > /tmp/key
    do_ cryptsetup -q luksFormat --type luks2 --luks2-metadata-size 16k --luks2-keyslots-size 256k --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --cipher aes-xts-plain64 --key-size 256 /dev/vdb /tmp/key
    do_ cryptsetup -q luksFormat --type luks1 --pbkdf-force-iterations 1000 --cipher aes-xts-plain64 --key-size 256 /dev/sda /tmp/key
    do_ cryptsetup open --key-file /tmp/key /dev/sda opened
    do_ dmsetup create slow --table "0 32768 delay /dev/nvme0n1 0 5"
    do_ dmsetup create part --table "0 16384 linear /dev/nvme0n2 0"
    ext4_at /dev/mapper/part /mnt/part
    do_ dmsetup create rest --table "0 20480 linear /dev/nvme0n2 16384"
    # Another map of the same sectors.
    do_ dmsetup create again --table "0 16384 linear /dev/nvme0n2 0"
    do_ dmsetup create suspended --table "0 32768 linear /dev/sdb 0"
}
mapped_down() {
    do_ umount /mnt/secret; do_ umount /mnt/part
    do_ cryptsetup close opened
    for name in secret slow again part rest suspended; do do_ dmsetup remove $name; done
    wipe $DISKS
}

paths_up() { ext4_at /dev/sdc /mnt/path; }
paths_down() { do_ umount /mnt/path; wipe sdc; }

multipath_up() {
    do_ dmsetup create many --table "0 61440 multipath 0 0 1 1 round-robin 0 2 1 /dev/sdc 1 /dev/sdd 1"
}
multipath_down() { do_ dmsetup remove many; wipe sdc; }

removed_up() {
    do_ insmod /modules/scsi_debug.ko dev_size_mb=22 delay=0
    wait_for /dev/sde
    mknod /tmp/gone b $(tr : ' ' < /sys/block/sde/dev)
    echo 1 > /sys/block/sde/device/delete
    do_ blockdev --setro /dev/vdb
}
removed_down() {
    do_ rmmod scsi_debug
    do_ blockdev --setrw /dev/vdb
}

bcache_up() {
    do_ make-bcache --wipe-bcache -B /dev/vda
    do_ make-bcache --wipe-bcache --bucket 16k -C /dev/sda
    do_ make-bcache --wipe-bcache -B /dev/nvme0n1
    sync
    # The kernel wants more than 512 buckets.
    for disk in vda sda; do echo /dev/$disk > /sys/fs/bcache/register || fail "bcache: no $disk"; done
    wait_for /dev/bcache0
    set_=$(ls /sys/fs/bcache | grep -- -)
    echo "$set_" > /sys/block/bcache0/bcache/attach || fail "bcache: no cache set"
    ext4_at /dev/bcache0 /mnt/cached
}
bcache_down() {
    do_ umount /mnt/cached
    echo 1 > /sys/block/bcache0/bcache/stop
    for set_ in /sys/fs/bcache/*-*; do echo 1 > "$set_/stop"; done
    for _ in $(seq 100); do [ -e /sys/block/bcache0 ] || [ -e /sys/block/sda/bcache ] || break; sleep 0.1; done
    wipe vda sda nvme0n1
}

memory_up() {
    echo 16M > /sys/block/zram0/disksize
    do_ mkswap /dev/zram0
    do_ swapon /dev/zram0
    cat /sys/class/zram-control/hot_add > /dev/null
    echo 17M > /sys/block/zram1/disksize
    do_ insmod /modules/null_blk.ko nr_devices=1 gb=1 memory_backed=1 queue_mode=2
    wait_for /dev/nullb0
    ext4_at /dev/nullb0 /mnt/null
    # The file and the disk that a server of nbd shows.
    truncate -s 19922944 /tmp/exported
    do_ losetup /dev/loop0 /tmp/exported
    printf '[generic]\nlistenaddr=127.0.0.1\n[file]\nexportname=/tmp/exported\n[disk]\nexportname=/dev/vda\n' > /tmp/nbd.conf
    do_ nbd-server -C /tmp/nbd.conf
    sleep 1
    do_ nbd-client 127.0.0.1 -N file /dev/nbd0
    do_ nbd-client 127.0.0.1 -N disk /dev/nbd1
    ext4_at /dev/nbd1 /mnt/net
}
memory_down() {
    do_ umount /mnt/null; do_ umount /mnt/net
    do_ swapoff /dev/zram0
    do_ nbd-client -d /dev/nbd0; do_ nbd-client -d /dev/nbd1
    kill $(pidof nbd-server)
    do_ losetup -d /dev/loop0
    do_ rmmod null_blk
    wipe vda
}

programs_up() {
    # Several disks of one file system, and logs on disks of their own.
    do_ mkdir -p /mnt/log /mnt/held
    do_ mkfs.ext4 -q -F -O journal_dev -b 4096 /dev/vda
    do_ mkfs.ext4 -q -F -b 4096 -E lazy_itable_init=0 -J device=/dev/vda /dev/vdb
    do_ mount -t ext4 /dev/vdb /mnt/log
    sleep 1000 < /dev/null > /dev/sda & echo $! > /tmp/writer
    sh -c 'exec 3<>/dev/nvme0n1; cd /; exec sleep 1000' < /dev/null > /dev/null 2>&1 & echo $! > /tmp/writer2
    do_ losetup -r /dev/loop1 /dev/nvme0n2
    unshare -m sh -c 'mkfs.ext4 -q -F -E lazy_itable_init=0 /dev/sdb; mount -t ext4 /dev/sdb /mnt/held; exec sleep 1000' < /dev/null > /dev/null 2>&1 & echo $! > /tmp/mounter
    for _ in $(seq 300); do grep -q /mnt/held "/proc/$(cat /tmp/mounter)/mounts" 2> /dev/null && return; sleep 0.1; done
    fail "sdb is not mounted"
}
programs_down() {
    do_ umount /mnt/log
    kill $(cat /tmp/writer /tmp/writer2 /tmp/mounter)
    do_ losetup -d /dev/loop1
    sleep 1
    wipe $DISKS
}

free_up() { true; }
free_down() { wipe $DISKS; }
