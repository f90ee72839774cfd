# Two hosts: a network, a disk, and ssh with the key of the first host.

# The name, the address and the disk of host NUMBER.
up() {
    hostname "n$1"
    printf '127.0.0.1 localhost\n10.0.0.1 n0\n10.0.0.2 n1\n' > /etc/hosts
    do_ ip addr add "10.0.0.$(($1 + 1))/24" dev eth0
    do_ ip link set eth0 up
    do_ mkfs.ext4 -q -F /dev/nvme0n1
    do_ mount -t ext4 /dev/nvme0n1 /mnt
    mkdir -p /etc/dropbear /root/.ssh /usr/bin
    chmod 700 /root /root/.ssh
    # Launchers pass `-x`, which dbclient does not know. Open MPI asks for it on all hosts.
    cat > /usr/bin/ssh <<'END'
#!/bin/sh
[ "$1" = -x ] && shift
exec /sbin/dbclient -y -y -i /root/.ssh/id "$@"
END
    chmod 755 /usr/bin/ssh
}

# Prints a new public key, with which `ssh` connects.
key() {
    do_ dropbearkey -t ed25519 -f /root/.ssh/id
    dropbearkey -y -f /root/.ssh/id | grep '^ssh-'
}

# Starts the server of ssh for this public key.
serve() {
    echo "$1" > /root/.ssh/authorized_keys
    chmod 600 /root/.ssh/authorized_keys
    do_ dropbearkey -t ed25519 -f /etc/dropbear/key
    do_ dropbear -r /etc/dropbear/key
}

# Starts a command, which ends later: `cat /run/status`.
begin() {
    rm -f /run/status
    export PATH=/usr/bin:/sbin:/bin DISKPERF_STORE=/run/store
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    (
        "$@" > /run/run.out 2> /run/run.err < /dev/null
        echo $? > /run/ended
        mv /run/ended /run/status
    ) > /dev/null 2>&1 &
}

stored() { DISKPERF_STORE=/run/store diskperf show last --json; }
