# Shell functions that all scripts for guests begin with.

export DM_DISABLE_UDEV=1

fail() { echo "$*" >&2; exit 99; }

# Runs a step quietly. If it fails, the command of the guest fails with the words of the step.
do_() { "$@" > /tmp/step 2>&1 < /dev/null || fail "$*: $(cat /tmp/step) $(dmesg | tail -5)"; }

# Settings of LVM for a guest without udev.
lvm_conf() {
    mkdir -p /etc/lvm /run/lock/lvm
    cat > /etc/lvm/lvm.conf <<END
devices { hints="none" obtain_device_list_from_udev=0 use_devicesfile=0 external_device_info_source="none" scan_lvs=0 }
activation { udev_sync=0 udev_rules=0 verify_udev_operations=0 monitoring=0 }
global { thin_check_executable="" event_activation=0 use_lvmpolld=0 }
backup { backup=0 archive=0 }
END
}
