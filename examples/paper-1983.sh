#!/usr/bin/env bash
# The script of Kridle & McKusick 1983, section 4, in today's words:
#
#   set time=2                       TIMEFORMAT, and `time` before every program
#   newfs /dev/rhp0g eagle           mkfs.ext4 -b 4096 DEVICE
#   mount /dev/hp0g /mnt0            mount DEVICE MOUNTPOINT
#   mkdir /mnt0/foo                  mkdir MOUNTPOINT/foo
#   three times: rm -f, write_8192   the same
#   three times: read_8192           the same
#   umount /dev/hp0g                 umount MOUNTPOINT
#
# The first of the three runs clears the cache of earlier contents; the other two should agree.
#
# usage: paper-1983.sh DEVICE MOUNTPOINT      as root; DEVICE must be empty, and is formatted
#
# Without a spare disk, on an image of your own:
#   truncate -s 256M disk.img && device=$(losetup --find --show disk.img) && mkdir -p mnt0
#   paper-1983.sh "$device" mnt0; losetup --detach "$device"
set -euo pipefail

if [ $# -ne 2 ] || [ ! -b "$1" ] || [ ! -d "$2" ]; then
    echo "usage: ${0##*/} DEVICE MOUNTPOINT    (as root; DEVICE is formatted)" >&2
    exit 2
fi
device=$1
mountpoint=$2
diskperf=${DISKPERF_BIN:-diskperf}
command -v "$diskperf" >/dev/null || {
    echo "error: there is no $diskperf; put it on the search path, or name it by DISKPERF_BIN" >&2
    exit 2
}

# The original script trusted its user. This one refuses a device that contains anything.
if [ -n "$(wipefs --no-act --parsable "$device")" ]; then
    echo "error: $device holds something already:" >&2
    wipefs --no-act "$device" >&2
    exit 3
fi

# The format of csh, with more digits: user and system seconds, elapsed time, percent of the CPU.
TIMEFORMAT='%3Uu %3Ss %3R %P%%'

echo "4K file system"
mkfs.ext4 -q -b 4096 "$device"
mount "$device" "$mountpoint"
trap 'umount "$mountpoint"' EXIT
mkdir "$mountpoint/foo"

file=$mountpoint/foo/tst2
echo "write_8192 $file"
for _ in 1 2 3; do
    rm -f "$file"
    time "$diskperf" write_8192 "$file"
done
echo "read_8192 $file"
for _ in 1 2 3; do
    time "$diskperf" read_8192 "$file"
done
