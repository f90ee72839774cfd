//! `--fill` and `--age`: only file systems that diskperf made are filled and aged before they are measured.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use testkit::loop_disk::LoopDisk;
use testkit::need_disk;

use crate::common::Cli;
use crate::common::document::document;

/// The descriptions of the targets of a run that must succeed.
fn targets(cli: &Cli, words: &str) -> Vec<Value> {
    let ended = cli.typed(&format!("{words} --json"));
    assert_eq!(ended.status, Some(0), "{} {}", ended.out, ended.err);
    let document = document(&ended);
    assert!(document["cells"].as_array().expect("cells").iter().any(|cell| cell["measured"] == true));
    document["run"]["targets"].as_array().expect("targets").clone()
}

/// The number of files in the file system of an image, outside of its own folders, and their bytes.
fn files_in(image: &Path) -> (u64, u64) {
    let disk = LoopDisk::attach(image).expect("a loop device");
    let folder = image.parent().expect("a folder").join("mnt");
    fs::create_dir_all(&folder).expect("a folder");
    let script = "mount -o ro \"$1\" \"$2\" && find \"$2\" -type f -printf '%s\\n'";
    let words = ["--mount", "--propagation", "private", "sh", "-c", script, "sh"];
    let words = words.into_iter().map(Path::new).chain([disk.node(), folder.as_path()]);
    let words: Vec<&str> = words.map(|word| word.to_str().expect("a plain path")).collect();
    let listed = testkit::run(Path::new("unshare"), image.parent().expect("a folder"), &words);
    assert_eq!(listed.status, Some(0), "{}", listed.err);
    let sizes: Vec<u64> = listed.out.lines().map(|line| line.parse().expect("a size")).collect();
    (sizes.len() as u64, sizes.iter().sum())
}

#[test]
fn aging_is_reproducible_and_keeps_its_files_during_tests() {
    need_disk!("mkfs.ext4", "mkfs.xfs", "losetup", "unshare");
    let cli = Cli::new();
    let words = "run smoke --only read_8192 --only commit --rounds 1 --fill 60% --age 25 --seed 7 --keep \
                 a=image:ext4,size=64MiB b=image:xfs,size=320MiB c=image:ext4,size=64MiB";
    let all = targets(&cli, words);
    for info in &all {
        let full = info["fill_percent"].as_f64().expect("how full it is");
        assert!((58.0..=62.0).contains(&full), "{full} %");
        let aged = &info["aged"];
        assert_eq!((&aged["fill"], &aged["churns"], &aged["seed"]), (&60.into(), &25.into(), &7.into()));
        assert_eq!(aged["files_deleted"], 25);
        let number = |key: &str| aged[key].as_u64().expect("a number");
        let kept = cli.path().join(info["image"]["kept_as"].as_str().expect("a name"));
        let (files, bytes) = files_in(&kept);
        // The programs have removed only their own files.
        assert_eq!(files, number("files_made") - 25);
        assert!(bytes < number("written_bytes"), "{bytes}");
        assert!(bytes * 100 / info["image"]["bytes"].as_u64().expect("bytes") > 40, "{bytes}");
    }
    let told = |info: &Value| ["files_made", "files_deleted", "written_bytes"].map(|key| info["aged"][key].clone());
    assert_eq!(told(&all[0]), told(&all[2]), "the same seed on the same image");
    assert_ne!(told(&all[0]), told(&all[1]));
}

#[test]
fn aged_file_systems_are_filled_once_and_remounted() {
    need_disk!("mkfs.ext4");
    let cli = Cli::new();
    let words = "run classic1983 --size 1MiB --rounds 1 --fill 50%";
    let all = targets(&cli, &format!("{words} image:ext4,size=48MiB"));
    assert_eq!(all[0]["before_each"], "remounted before each test");
    assert_eq!((&all[0]["aged"]["fill"], &all[0]["aged"]["churns"]), (&50.into(), &0.into()));
    let ended = cli.typed(&format!("{words} --only read_8192 image:ext4,size=48MiB"));
    let text = ended.out.replace("\n  ", " ");
    assert!(text.contains(", 50 % full,") && text.contains(", aged: filled (seed 1)"), "{text}");
    assert!(ended.err.contains("is filled to 50 %: "), "{}", ended.err);
    let fresh = cli.typed("run smoke --only commit --rounds 1 image:ext4,size=48MiB");
    assert!(fresh.out.contains("not aged"), "{}", fresh.out);
    assert_eq!(cli.names(), Vec::<String>::new());
}

#[test]
fn aging_needs_its_own_file_system_and_free_space() {
    let cli = Cli::new();
    let refused = |words: &str| {
        let ended = cli.typed(words);
        assert_eq!((ended.status, cli.names()), (Some(2), Vec::new()), "{words}: {}", ended.err);
        ended.err
    };
    assert!(refused("run smoke --fill 70% .").contains("only image: and new:"));
    assert!(refused("choose --age 10 . sim:flat").contains("--fill and --age are for image:FSTYPE"));
    assert!(refused("run smoke --age 10 sim:flat").contains("do not age"));
    assert!(refused("run smoke --fill 95% image:ext4").contains("from 5% to 90%"));
    assert!(refused("run smoke --age 0 image:ext4").contains("--age"));
    let small = refused("run smoke --size 32MiB --fill 70% --dry-run image:ext4,size=96MiB");
    assert!(small.contains("70 % of 96 MiB leaves "), "{small}");
    assert!(small.contains("--fill "), "{small}");
}

#[test]
fn stopping_during_aging_leaves_nothing() {
    need_disk!("mkfs.ext4", "kill");
    let cli = Cli::new();
    let words = "run smoke --age 1000000 --json image:ext4,size=64MiB";
    let mut child = cli
        .command(&[])
        .args(words.split(' '))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let said = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let has_begun = said.into_iter().any(|line| line.contains("is filled to 70 % and changed 1000000 times"));
    assert!(has_begun);
    testkit::run(Path::new("kill"), cli.path(), &["-INT", &child.id().to_string()]);
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(4));
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!(document["run"]["interrupted"], true);
    assert_eq!(cli.names(), Vec::<String>::new());
}
