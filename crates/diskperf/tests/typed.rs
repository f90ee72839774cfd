//! The first things that somebody types who knows fio: sizes such as `4k`, and a path alone.

mod common {
    pub mod document;
}

use std::fs;
use std::path::Path;

use common::document::document;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{Ended, names_in};

fn scratch() -> TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

fn diskperf(folder: &Path, words: &[&str]) -> Ended {
    testkit::run(&testkit::program(env!("CARGO_BIN_EXE_diskperf")), folder, words)
}

/// The document of a command that must succeed.
fn found(folder: &Path, words: &[&str]) -> Value {
    let ended = diskperf(folder, words);
    assert_eq!(ended.status, Some(0), "{words:?}: {}{}", ended.out, ended.err);
    document(&ended)
}

#[test]
fn sizes_are_powers_of_two_as_in_fio_and_of_ten_as_in_si() {
    let folder = scratch();
    let here = folder.path();
    for (size, bytes, bs, block) in [
        ("64k", 65_536, "4k", 4096),
        ("1m", 1 << 20, "4K", 4096),
        ("1M", 1 << 20, "4kib", 4096),
        ("0.0625G", 1 << 26, "4096b", 4096),
        ("512kB", 512_000, "1kB", 1000),
    ] {
        let found = found(here, &["io", "randread", "sim:flat", "--bs", bs, "--size", size, "--json"]);
        let parameters = &found["cells"][0]["parameters"];
        assert_eq!((&parameters["file_bytes"], &parameters["buffer_bytes"]), (&json!(bytes), &json!(block)), "{size}");
    }
    let job = "targets = ['sim:flat']\n[[load]]\npattern = 'randread'\nbs = '8k'\nsize = '1m'\n";
    fs::write(here.join("job.toml"), job).expect("a job");
    let of_job = found(here, &["run", "job.toml", "--json"]);
    assert_eq!(of_job["cells"][0]["parameters"]["buffer_bytes"], json!(8192));
    for (size, words) in [
        ("4kb", ["ambiguous unit kb", "KiB (powers of 1024)", "kB (powers of 1000)"]),
        ("99999999999999999999", ["more bytes than 64 bits can count"; 3]),
        ("99999999T", ["more bytes than 64 bits can count"; 3]),
        ("4q", ["unknown unit of size", "KiB", "kB"]),
    ] {
        let refused = diskperf(here, &["io", "randread", "sim:flat", "--size", size]);
        assert_eq!((refused.status, refused.out.as_str()), (Some(2), ""), "{size}: {}", refused.err);
        assert!(words.iter().all(|word| refused.err.contains(word)), "{size}: {}", refused.err);
    }
    for help in [&["help", "run"][..], &["help", "io"], &["help", "sizes"]] {
        let help = diskperf(here, help).out;
        assert!(help.contains("powers of 1024") && help.contains("powers of 1000"), "{help}");
    }
    assert_eq!(names_in(here), ["job.toml"]);
}
