//! The allowed dependencies between crates.
//!
//! ```text
//!   units <- workload <- {simulator, kernel, stats} {units, stats} <- report        all <- diskperf
//!   {units, workload, stats} <- store               {units, simulator, kernel} <- machines
//!   {units, kernel} <- powercut                     {units, workload, simulator, stats, machines} <- classic1983
//!   {units, workload, kernel, stats} <- runner      {units, workload, stats} <- jobs
//!   {runner, jobs, machines, store, report, simulator, ...} <- campaign
//! ```
//!
//! The simulator and the kernel do not depend on each other, and nothing depends on diskperf. The arrows hold for
//! dependencies of tests too: a test that uses both worlds belongs to diskperf.

use cargo_metadata::{DependencyKind, Package};

use super::Finding;
use super::manifests::PREFIX;

/// Each crate by the name of its library, and the workspace crates on which it may depend.
const ARROWS: [(&str, &[&str]); 18] = [
    ("units", &[]),
    ("workload", &["units"]),
    ("simulator", &["units", "workload"]),
    ("kernel", &["units", "workload"]),
    ("stats", &["units", "workload"]),
    ("report", &["units", "stats"]),
    ("store", &["units", "workload", "stats"]),
    ("machines", &["units", "simulator", "kernel"]),
    ("powercut", &["units", "kernel"]),
    ("classic1983", &["units", "workload", "simulator", "stats", "machines"]),
    ("runner", &["units", "workload", "kernel", "stats"]),
    ("jobs", &["units", "workload", "stats"]),
    (
        "campaign",
        &["units", "workload", "simulator", "kernel", "stats", "report", "store", "machines", "runner", "jobs"],
    ),
    (
        "diskperf",
        &[
            "units",
            "workload",
            "simulator",
            "kernel",
            "stats",
            "report",
            "store",
            "machines",
            "powercut",
            "classic1983",
            "runner",
            "jobs",
            "campaign",
        ],
    ),
    ("overhead", &["units", "workload", "kernel", "stats", "runner"]),
    ("calibration", &["stats", "classic1983"]),
    ("testkit", &["units"]),
    ("xtask", &[FOR_TESTS]),
];

/// Any crate may use it in tests; no installed crate may use it otherwise.
const FOR_TESTS: &str = "testkit";

/// A workspace crate and its dependencies.
pub struct Crate {
    name: String,
    dependencies: Vec<(String, DependencyKind)>,
}

/// The crates of the workspace.
pub fn crates(packages: &[&Package]) -> Vec<Crate> {
    let dependencies = |package: &Package| {
        package.dependencies.iter().map(|dependency| (short(&dependency.name), dependency.kind)).collect()
    };
    packages.iter().map(|package| Crate { name: short(&package.name), dependencies: dependencies(package) }).collect()
}

/// The name of a package without our prefix.
fn short(package: &str) -> String {
    package.strip_prefix(PREFIX).unwrap_or(package).to_owned()
}

/// Finds dependencies against the arrows.
pub fn check(crates: &[Crate]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Crate { name, dependencies } in crates {
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| known == name) else {
            findings.push(Finding::new(name, "has no place among the arrows (xtask/src/tidy/crate_dependencies.rs)"));
            continue;
        };
        for (dependency, kind) in dependencies {
            let ours = crates.iter().any(|other| other.name == *dependency);
            let in_tests = dependency == FOR_TESTS && *kind == DependencyKind::Development;
            if ours && !in_tests && !allowed.contains(&dependency.as_str()) {
                findings.push(Finding::new(name, format!("must not depend on {dependency}")));
            }
        }
    }
    for (name, _) in ARROWS {
        if !crates.iter().any(|known| known.name == name) {
            findings.push(Finding::new(name, "is among the arrows, but there is no such crate"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks all crates with only this dependency.
    fn check_with(name: &str, dependency: &str, kind: DependencyKind) -> Vec<Finding> {
        let mut crates: Vec<Crate> =
            ARROWS.iter().map(|(name, _)| Crate { name: (*name).to_owned(), dependencies: Vec::new() }).collect();
        match crates.iter_mut().find(|known| known.name == name) {
            Some(known) => known.dependencies.push((dependency.to_owned(), kind)),
            None => crates.push(Crate { name: name.to_owned(), dependencies: Vec::new() }),
        }
        check(&crates)
    }

    #[test]
    fn dependencies_point_one_way() {
        assert_eq!(check_with("workload", "units", DependencyKind::Normal), []);
        assert_eq!(check_with("diskperf", "kernel", DependencyKind::Normal), []);
        assert_eq!(check_with("kernel", "libc", DependencyKind::Normal), []);
        for (name, dependency) in [
            ("units", "workload"),
            ("simulator", "kernel"),
            ("kernel", "simulator"),
            ("report", "store"),
            ("store", "kernel"),
        ] {
            for kind in [DependencyKind::Normal, DependencyKind::Development, DependencyKind::Build] {
                assert_eq!(check_with(name, dependency, kind).len(), 1, "{name} on {dependency}");
            }
        }
    }

    #[test]
    fn only_tests_depend_on_the_testkit() {
        assert_eq!(check_with("kernel", "testkit", DependencyKind::Development), []);
        assert_eq!(check_with("kernel", "testkit", DependencyKind::Normal).len(), 1);
    }

    #[test]
    fn new_crates_must_be_added_to_the_arrows() {
        assert_eq!(check_with("another", "units", DependencyKind::Normal).len(), 1);
        assert_eq!(check(&[]).len(), ARROWS.len());
    }
}
