# Shell functions that prepare storage for the jobs in a guest, and remove it again.
# `NAME_up` mounts the storage NAME at /mnt/job and prints the name of its device; `NAME_down` removes it. The disks are
# found by their sizes in MiB:
#   1001, 1002      two namespaces of one NVMe disk
#   1003, 1004      virtio, with a write-back and a write-through cache
#   1005, 1006      virtio-scsi, with a write-back and a write-through cache
#   1007           SATA
#   1008           virtio, 100 operations per second
#   1009           virtio, below the slower disk of choices

# The name of the disk with this size in MiB.
disk_of() {
    for _ in $(seq 100); do
        for disk in /sys/block/*; do
            [ "$(cat $disk/size)" = "$(($1 * 2048))" ] && { echo "${disk##*/}"; return; }
        done
        sleep 0.1
    done
    fail "no disk of $1 MiB"
}

# Fills disks with zeros. BusyBox's own tool of this name has fewer options.
wipe() { for size in "$@"; do do_ /sbin/blkdiscard -z "/dev/$(disk_of "$size")"; done; }

# The kernel's name of a mapped device. Its node is not a link here, because no udev runs.
mapped() {
    for disk in /sys/block/dm-*; do
        [ "$(cat "$disk/dm/name")" = "$1" ] && { echo "${disk##*/}"; return; }
    done
    fail "no mapped device $1"
}

# Mounts a new file system of a device.
mount_new() {
    case $1 in
        ext4) do_ mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$2" ;;
        xfs) do_ mkfs.xfs -q -f "$2" ;;
    esac
    do_ mkdir -p /mnt/job
    do_ mount -t "$1" "$2" /mnt/job
}

# Prints the result file of a job: job NAME PRESET OPTION...
job() {
    name=$1 preset=$2
    shift 2
    set -- run "$preset" /mnt/job "$@" --yes --no-store --json -o /tmp/job.json
    rm -f /tmp/job.json
    cd /tmp
    case $name in
        *_user) do_ chown user /mnt/job; do_ chmod 777 /tmp; su user -c "diskperf $*" ;;
        *) diskperf "$@" ;;
    esac
    status=$?
    sed 's/^ *//' /tmp/job.json
    return $status
}

# Prints the document of a check of records, whose writer was killed: records NAME
records() {
    writer="timeout -s KILL 3 diskperf verify /mnt/job --write --yes"
    case $1 in
        *_user) su user -c "$writer" > /tmp/records 2> /dev/null ;;
        *) $writer > /tmp/records 2> /dev/null ;;
    esac
    diskperf verify /mnt/job --check /tmp/records --json
}

# A disk that takes 40 ms for each request: slower than all others.
slower_up() {
    do_ dmsetup create slower --table "0 $((900 * 2048)) delay /dev/$(disk_of 1009) 0 40"
    do_ mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 /dev/mapper/slower
    do_ mkdir -p /mnt/slower
    do_ mount -t ext4 /dev/mapper/slower /mnt/slower
}

# Prints the result file of a choice between the storage and the slower disk, with these names. The file is small and the
# time short, because the slower disk takes 40 ms for each request.
choice() {
    rm -f /tmp/job.json
    diskperf choose "$1=/mnt/job" "$2=/mnt/slower" --floor 0 --budget 120s --yes --no-store --json -o /tmp/job.json \
        io randread --size 4MiB --time 1s
    status=$?
    sed 's/^ *//' /tmp/job.json
    return $status
}

# Prints the result file of reads of a device: raw NAME
raw() {
    rm -f /tmp/job.json
    diskperf run device "/dev/$1" --time 1s --rounds 2 --yes --no-store --json -o /tmp/job.json
    status=$?
    sed 's/^ *//' /tmp/job.json
    return $status
}

# Mounts an ext4 of the disk with this size.
ext4_up() { disk=$(disk_of "$1"); mount_new ext4 "/dev/$disk"; echo "$disk"; }
ext4_down() { do_ umount /mnt/job; wipe "$1"; }

nvme_up() { ext4_up 1001; }
nvme_down() { ext4_down 1001; }
nvme_user_up() { ext4_up 1001; }
nvme_user_down() { ext4_down 1001; }
virtio_up() { ext4_up 1003; }
virtio_down() { ext4_down 1003; }
virtio_through_up() { ext4_up 1004; }
virtio_through_down() { ext4_down 1004; }
scsi_up() { ext4_up 1005; }
scsi_down() { ext4_down 1005; }
scsi_through_up() { ext4_up 1006; }
scsi_through_down() { ext4_down 1006; }
sata_up() { ext4_up 1007; }
sata_down() { ext4_down 1007; }
throttled_up() { ext4_up 1008; }
throttled_down() { do_ umount /mnt/job; }

xfs_up() { disk=$(disk_of 1002); mount_new xfs "/dev/$disk"; echo "$disk"; }
xfs_down() { do_ umount /mnt/job; wipe 1002; }

btrfs_up() {
    first=$(disk_of 1003); second=$(disk_of 1005)
    do_ mkfs.btrfs -q -f -d raid1 -m raid1 "/dev/$first" "/dev/$second"
    do_ mkdir -p /mnt/job
    do_ mount -t btrfs -o "device=/dev/$first,device=/dev/$second" "/dev/$first" /mnt/job
    echo "$first"
}
btrfs_down() { do_ umount /mnt/job; wipe 1003 1005; }

crypt_up() {
    key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
    do_ dmsetup create secret --table "0 $((900 * 2048)) crypt aes-xts-plain64 $key 0 /dev/$(disk_of 1003) 0"
    mount_new ext4 /dev/mapper/secret
    mapped secret
}
crypt_down() { do_ umount /mnt/job; do_ dmsetup remove secret; wipe 1003; }

delay_up() {
    do_ dmsetup create late --table "0 $((900 * 2048)) delay /dev/$(disk_of 1001) 0 20"
    mount_new ext4 /dev/mapper/late
    mapped late
}
delay_down() { do_ umount /mnt/job; do_ dmsetup remove late; wipe 1001; }

# A disk in memory that answers each request after 20 ms.
timed_up() {
    do_ insmod /modules/null_blk.ko nr_devices=1 gb=1 memory_backed=1 queue_mode=2 irqmode=2 completion_nsec=20000000
    for _ in $(seq 100); do [ -e /dev/nullb0 ] && break; sleep 0.1; done
    mount_new ext4 /dev/nullb0
    echo nullb0
}
timed_down() { do_ umount /mnt/job; do_ rmmod null_blk; }

# Stripes of two disks, of which one is slow.
stripe_up() {
    slow=$(disk_of 1008)
    do_ mdadm --create /dev/md0 --run --level=0 --raid-devices=2 --metadata=1.2 --chunk=64 "/dev/$(disk_of 1003)" "/dev/$slow"
    mount_new ext4 /dev/md0
    echo md0 $slow
}
stripe_down() { do_ umount /mnt/job; do_ mdadm --stop /dev/md0; wipe 1003; do_ mdadm --zero-superblock "/dev/$(disk_of 1008)"; }

thin_up() {
    lvm_conf
    do_ lvm vgcreate -s 1m thin "/dev/$(disk_of 1002)"
    do_ lvm lvcreate -y -Zn --type thin-pool -l 980 -n pool --poolmetadatasize 4m thin
    do_ lvm lvcreate -y -V 900m -T thin/pool -n volume
    mount_new ext4 /dev/thin/volume
    mapped thin-volume
}
thin_down() { do_ umount /mnt/job; do_ lvm vgchange -an thin; wipe 1002; }

raid_up() {
    do_ mdadm --create /dev/md0 --run --level=1 --raid-devices=2 --metadata=1.2 --assume-clean --bitmap=none \
        "/dev/$(disk_of 1003)" "/dev/$(disk_of 1005)"
    mount_new ext4 /dev/md0
    echo md0
}
raid_down() { do_ umount /mnt/job; do_ mdadm --stop /dev/md0; wipe 1003 1005; }

overlay_up() {
    disk=$(disk_of 1001)
    do_ mkfs.ext4 -q -F "/dev/$disk"
    do_ mkdir -p /mnt/job /mnt/layers
    do_ mount -t ext4 "/dev/$disk" /mnt/layers
    do_ mkdir /mnt/layers/lower /mnt/layers/upper /mnt/layers/work
    do_ mount -t overlay -o lowerdir=/mnt/layers/lower,upperdir=/mnt/layers/upper,workdir=/mnt/layers/work overlay /mnt/job
    echo "$disk"
}
overlay_down() { do_ umount /mnt/job; do_ umount /mnt/layers; wipe 1001; }

memory_up() { do_ mkdir -p /mnt/job; do_ mount -t tmpfs -o size=400m tmpfs /mnt/job; }
memory_down() { do_ umount /mnt/job; }

# An NVMe disk over TCP, which this kernel serves to itself.
nvme_tcp_up() {
    mkdir -p /sys/kernel/config
    grep -q ' /sys/kernel/config ' /proc/mounts || do_ mount -t configfs configfs /sys/kernel/config
    nvmet=/sys/kernel/config/nvmet
    do_ mkdir -p $nvmet/subsystems/disk/namespaces/1
    echo 1 > $nvmet/subsystems/disk/attr_allow_any_host
    echo "/dev/$(disk_of 1003)" > $nvmet/subsystems/disk/namespaces/1/device_path
    echo 1 > $nvmet/subsystems/disk/namespaces/1/enable
    do_ mkdir -p $nvmet/ports/1
    echo ipv4 > $nvmet/ports/1/addr_adrfam
    echo tcp > $nvmet/ports/1/addr_trtype
    echo 127.0.0.1 > $nvmet/ports/1/addr_traddr
    echo 4420 > $nvmet/ports/1/addr_trsvcid
    do_ ln -s $nvmet/subsystems/disk $nvmet/ports/1/subsystems/disk
    echo transport=tcp,traddr=127.0.0.1,trsvcid=4420,nqn=disk > /dev/nvme-fabrics || fail "not connected: $(dmesg | tail -5)"
    for _ in $(seq 100); do [ -e /dev/nvme1n1 ] && break; sleep 0.1; done
    mount_new ext4 /dev/nvme1n1
    echo nvme1n1
}
nvme_tcp_down() {
    do_ umount /mnt/job
    echo 1 > /sys/class/nvme/nvme1/delete_controller
    rm /sys/kernel/config/nvmet/ports/1/subsystems/disk
    rmdir /sys/kernel/config/nvmet/ports/1
    echo 0 > /sys/kernel/config/nvmet/subsystems/disk/namespaces/1/enable
    rmdir /sys/kernel/config/nvmet/subsystems/disk/namespaces/1 /sys/kernel/config/nvmet/subsystems/disk
    wipe 1003
}

# The address of this guest in the network of two guests.
network_up() {
    do_ ip addr add "$1/24" dev eth0
    do_ ip link set eth0 up
}

# Serves an ext4 to the host with this address. The tables that rpc.mountd would fill are filled here.
nfs_serve() {
    do_ mkdir -p /mnt/served /var/lib/nfs/v4recovery /proc/fs/nfsd
    do_ mkfs.ext4 -q -F "/dev/$(disk_of 1001)"
    do_ mount -t ext4 "/dev/$(disk_of 1001)" /mnt/served
    grep -q ' /proc/fs/nfsd ' /proc/mounts || do_ mount -t nfsd nfsd /proc/fs/nfsd
    # Older versions would need rpcbind.
    echo "-2 -3 +4 +4.2" > /proc/fs/nfsd/versions
    echo "tcp 2049" > /proc/fs/nfsd/portlist
    echo 2 > /proc/fs/nfsd/threads
    # No client of an earlier boot can reconnect, so the server need not wait for one.
    echo Y > /proc/fs/nfsd/v4_end_grace
    later=$(($(date +%s) + 100000))
    echo "nfsd $1 $later here" > /proc/net/rpc/auth.unix.ip/channel
    # Flags: no check of subtrees (0x400), and the number 0 names the file system (0x2000). Root stays root.
    echo "here /mnt/served $later $((0x2400)) 65534 65534 0" > /proc/net/rpc/nfsd.export/channel
    echo "here 1 \\x00000000 $later /mnt/served" > /proc/net/rpc/nfsd.fh/channel
}

# Mounts the file system of the server with this address, from the address of this guest.
nfs_mount() {
    do_ mkdir -p /mnt/job
    do_ timeout 40 mount -i -t nfs4 -o "addr=$1,clientaddr=$2,vers=4.2" "$1:/" /mnt/job
}

# A file system that another guest serves.
remote_nfs_up() { nfs_mount 10.0.0.1 10.0.0.2; }
remote_nfs_down() { do_ umount /mnt/job; }

# A directory of the machine on which this guest runs.
shared_up() { do_ mkdir -p /mnt/job; do_ mount -t virtiofs shared /mnt/job; }
shared_down() { do_ umount /mnt/job; }

# A file system that this kernel serves to itself.
nfs_up() { nfs_serve 127.0.0.1; nfs_mount 127.0.0.1 127.0.0.1; }
nfs_down() {
    do_ umount /mnt/job
    echo 0 > /proc/fs/nfsd/threads
    for table in auth.unix.ip nfsd.export nfsd.fh; do date +%s > /proc/net/rpc/$table/flush; done
    do_ umount /mnt/served
    wipe 1001
}

smb_mount() {
    timeout 40 mount -i -t cifs -o "ip=127.0.0.1,unc=\\\\127.0.0.1\\share,user=nobody,pass=,sec=none,vers=3.1.1" //127.0.0.1/share /mnt/job
}
smb_up() {
    do_ mkdir -p /mnt/job /mnt/served /etc/ksmbd
    do_ mkfs.ext4 -q -F "/dev/$(disk_of 1001)"
    do_ mount -t ext4 "/dev/$(disk_of 1001)" /mnt/served
    printf '[global]\nmap to guest = bad user\n[share]\npath = /mnt/served\nread only = no\nguest ok = yes\nforce user = root\n' > /etc/ksmbd/ksmbd.conf
    ln -sf ksmbd.tools /sbin/ksmbd.mountd
    do_ ksmbd.mountd -c /etc/ksmbd/ksmbd.conf
    for _ in $(seq 100); do nc -z 127.0.0.1 445 2> /dev/null && break; sleep 0.1; done
    # The kernel listens before its daemon knows the shares.
    for _ in $(seq 20); do smb_mount > /dev/null 2>&1 && return; sleep 0.5; done
    do_ smb_mount
}
smb_down() {
    do_ umount /mnt/job
    kill $(pidof ksmbd.mountd)
    echo hard > /sys/class/ksmbd-control/kill_server
    sleep 1
    do_ umount /mnt/served
    wipe 1001
}
