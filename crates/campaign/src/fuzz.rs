//! Fuzzes target arguments: examples, changed at random.

use testkit::fuzz::{Subject, assert_bounded, fuzz};

use crate::targets::TargetArgument;

#[test]
fn fuzz_targets() {
    let examples = [
        "a=/mnt/x,tune=scheduler:none",
        "x=image:xfs,size=1GiB,dir=/mnt/a b,block=8KiB,mount=noatime+logbsize=256k,mkfs=-m crc=1+finobt=0  -L \
            x,tune=a:b",
        "new:ext4,block=4KiB,tune=scheduler:none@/dev/disk/by-id/a@b,tune=c:d",
        "file:/a=b",
        "old=sim:vax780-uda50,drive.rpm=3600,file_system=4k-1k",
        "sim:flat",
        ".",
    ];
    let read = |input: &[u8]| {
        let typed = String::from_utf8_lossy(input);
        let Ok(argument) = typed.parse::<TargetArgument>();
        assert_eq!(argument.typed, typed);
        assert!(typed.starts_with(&argument.name));
        let said = argument.fuzzed();
        assert_bounded(&said, &typed);
        said
    };
    let words = &[
        "image:",
        "new:",
        "file:",
        "sim:",
        "ext4",
        ",tune=",
        "@",
        "=",
        ",",
        "+",
        ":",
        "size=",
        "dir=",
        "block=",
        "mount=",
        "mkfs=",
        "scheduler:none",
        "flat",
        "vax750-uda50",
        "KiB",
    ];
    fuzz(&Subject::new("targets", examples, read).fast().with_words(words));
}
