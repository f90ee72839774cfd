//! The claims of cells about their files in the page cache, and --cold and --warm.

use serde_json::Value;

use crate::common::Cli;

/// The claims of cells: program and phase, and the cache state.
type Claims = Vec<(String, String)>;

/// The claims of the smallest preset on a target.
fn claims(cli: &Cli, arguments: &[&str]) -> Claims {
    let ended = cli.well(&[&["run", "smoke", "--rounds", "1", "--json"], arguments].concat());
    let document: Value = serde_json::from_str(&ended.out).expect("one document");
    let text = |value: &Value| value.as_str().expect("a word").to_owned();
    let claim =
        |cell: &Value| (format!("{} {}", text(&cell["program"]), text(&cell["phase"])), text(&cell["state"]["cache"]));
    document["cells"].as_array().expect("cells").iter().map(claim).collect()
}

/// Phases that read existing data through the page cache.
fn reads(phase: &str) -> bool {
    ["read_8192 read", "smallfb read", "largefb read", "copy copy", "local_mix"]
        .iter()
        .any(|start| phase.starts_with(start))
}

#[test]
fn only_reads_claim_a_cold_cache() {
    let cli = Cli::new();
    if testkit::is_in_memory(cli.path()) {
        return testkit::skip!("the temporary folder is in memory");
    }
    for (phase, claim) in claims(&cli, &[]) {
        assert_eq!(claim, if reads(&phase) { "cold" } else { "unknown" }, "{phase}");
    }
}

#[test]
fn cold_or_warm_reads_can_be_requested() {
    let cli = Cli::new();
    if testkit::is_in_memory(cli.path()) {
        return testkit::skip!("the temporary folder is in memory");
    }
    for (asked, state) in [("--cold", "cold"), ("--warm", "warm")] {
        let claims = claims(&cli, &[asked]);
        assert!(claims.iter().filter(|(phase, _)| reads(phase)).all(|(_, claim)| claim == state), "{claims:?}");
        let rewrite = claims.iter().find(|(phase, _)| phase == "rewrite_8192 rewrite");
        assert_eq!(rewrite.map(|(_, claim)| claim.as_str()), Some(state), "{claims:?}");
        // A program that creates its file has no cached file beforehand, so it claims no cache state.
        assert!(claims.contains(&("write_8192 write".to_owned(), "unknown".to_owned())), "{claims:?}");
    }
}

#[test]
fn files_on_tmpfs_are_never_cold() {
    let Ok(cli) = tempfile::tempdir_in("/dev/shm") else { return testkit::skip!("no /dev/shm") };
    let cli = Cli::inside(cli);
    if !testkit::is_in_memory(cli.path()) {
        return testkit::skip!("/dev/shm is not in memory");
    }
    let all = claims(&cli, &["--cold"]);
    assert!(all.iter().all(|(_, claim)| claim == "unknown"), "{all:?}");
}

#[test]
fn a_machine_without_a_cache_is_always_cold() {
    let cli = Cli::new();
    let all = claims(&cli, &["sim:flat"]);
    assert!(all.iter().all(|(_, claim)| claim == "cold"), "{all:?}");
}

#[test]
fn contradictory_cache_options_are_refused() {
    let cli = Cli::new();
    for wishes in [["--cold", "--warm"], ["--warm", "--drop-caches"]] {
        let ended = cli.run(&["run", "smoke", wishes[0], wishes[1]]);
        assert_eq!(ended.status, Some(2), "{}", ended.err);
    }
}

#[test]
fn dropping_all_caches_needs_rights() {
    if testkit::is_root() {
        return testkit::skip!("root may drop caches, and would slow down everybody");
    }
    let cli = Cli::new();
    let ended = cli.run(&["run", "smoke", "--drop-caches"]);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(ended.err.contains("vm.drop_caches") && ended.err.contains("hint: "), "{}", ended.err);
    assert_eq!(cli.names(), [""; 0]);
}
