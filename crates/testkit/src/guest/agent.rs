//! The words between a test and the shell in the guest. Commands and outputs are hexadecimal, so that no byte of them
//! means something to the serial line.

use crate::ProgramOutput;

/// The line of a guest that takes commands.
pub(super) const READY: &str = "ready";

/// The first program of the guest. Everything is in memory. The modules are numbered in the order of loading.
pub(super) const INIT: &str = r#"#!/bin/busybox sh
export PATH=/sbin:/bin HOME=/root
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
for folder in /tmp /run /dev/shm; do mount -t tmpfs tmpfs "$folder"; done
mount -t devpts devpts /dev/pts
echo 1 > /proc/sys/vm/panic_on_oom
stty -F /dev/ttyS1 raw -echo
stty -F /dev/ttyS2 raw -echo
for module in /modules/loaded/*; do
    [ -e "$module" ] || continue
    insmod "$module" || echo "$module is not loaded"
    # A module may compute for seconds: that of RAID 6 tries its ways to do so.
    echo alive > /dev/ttyS1
done
ip link set lo up 2>/dev/null
agent() {
    exec < /dev/ttyS1 > /dev/ttyS1 2> /dev/ttyS0
    echo ready
    while read -r command; do
        : > /run/busy
        echo "$command" | xxd -r -p > /run/command
        sh -c '. /script; . /run/command' < /dev/null > /run/out 2> /run/err
        status=$?
        xxd -p /run/out | sed 's/^/out /'
        xxd -p /run/err | sed 's/^/err /'
        rm /run/busy
        echo "end $status"
    done
}
# The end of a child interrupts `read`, which then forgets what it has read. So another shell reads: the parent of
# orphans is the first process. This one also reports that a command runs.
agent &
agent=$!
while kill -0 "$agent"; do
    sleep 4
    if [ -e /run/busy ]; then echo alive > /dev/ttyS1; fi
done
"#;

/// The line that runs a command.
pub(super) fn encode(command: &str) -> String {
    let hexadecimal: String = command.bytes().map(|byte| format!("{byte:02x}")).collect();
    // An empty line would not be a command.
    format!("{hexadecimal}0a\n")
}

/// The reply to a command, as far as it has arrived.
#[derive(Debug, Default)]
pub(super) struct Reply {
    out: Vec<u8>,
    err: Vec<u8>,
    status: Option<i32>,
}

impl Reply {
    /// Adds a line. Returns true if it was the last one. Lines that belong to no reply are signs of life.
    pub(super) fn add(&mut self, line: &str) -> bool {
        match line.split_once(' ') {
            Some(("out", bytes)) => self.out.extend(decode(bytes)),
            Some(("err", bytes)) => self.err.extend(decode(bytes)),
            Some(("end", status)) => self.status = status.parse().ok(),
            _ => {}
        }
        self.status.is_some()
    }

    /// The result, if the last line has arrived. A shell reports a signal as 128 and its number.
    pub(super) fn ended(self) -> Option<ProgramOutput> {
        let [out, err] = [self.out, self.err].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Some(ProgramOutput { status: Some(self.status?), out, err })
    }
}

fn decode(hexadecimal: &str) -> Vec<u8> {
    let digits = hexadecimal.as_bytes().chunks_exact(2);
    digits.filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_collected_up_to_their_end() {
        let mut reply = Reply::default();
        for line in ["alive", "out 61620a", "err 2e", "out ff", "alive", ""] {
            assert!(!reply.add(line), "{line}");
        }
        assert!(reply.add("end 3"));
        let ended = reply.ended().expect("a result");
        assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(3), "ab\n\u{fffd}", "."));
    }

    #[test]
    fn unfinished_replies_are_no_result() {
        let mut reply = Reply::default();
        assert!(!reply.add("out 61") && !reply.add("end soon"));
        assert!(reply.ended().is_none());
    }

    #[test]
    fn commands_are_one_line_of_digits() {
        assert_eq!(encode("a\n'b'"), "610a2762270a\n");
        assert_eq!(decode(encode("ä $x").trim()), "ä $x\n".as_bytes());
        assert_eq!(encode(""), "0a\n");
    }
}
