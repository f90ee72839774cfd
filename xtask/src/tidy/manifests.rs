//! The manifests of our crates. Each has a name with our prefix, a description and our lints. Each workspace dependency
//! is used by a crate, and each dependency of a crate occurs in its code.

use super::Finding;
use super::source::{File, has_word};

/// The only crate with unsafe code. It has its own lints.
const UNSAFE_CRATE: &str = "diskperf-kernel";

/// The beginning of the names of our libraries: short names such as `kernel` or `stats` are taken in the registry.
pub const PREFIX: &str = "diskperf-";

/// The program, and crates of tests and tools that cannot be published.
const WITHOUT_PREFIX: [&str; 5] = ["calibration", "diskperf", "overhead", "testkit", "xtask"];

/// The manifest of a crate.
pub struct Manifest {
    /// The crate's name.
    pub name: String,
    /// The crate's folder, from the root of the workspace.
    pub folder: String,
    /// The whole manifest.
    pub text: String,
}

/// Finds manifests without a description, without our lints, or with a name without our prefix.
pub fn check(manifests: &[Manifest]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Manifest { name, text, .. } in manifests {
        let mut must = |holds: bool, message: &str| {
            if !holds {
                findings.push(Finding::new(name, message));
            }
        };
        must(name.starts_with(PREFIX) || WITHOUT_PREFIX.contains(&name.as_str()), "its name must begin with diskperf-");
        let description = value(text, "[package]", "description").unwrap_or_default();
        let says_something = description.trim_matches('"').split_whitespace().count() >= 3;
        must(says_something && !description.contains("TODO"), "its description does not say what it is for");
        if name == UNSAFE_CRATE {
            let denied = value(text, "[lints.rust]", "unsafe_op_in_unsafe_fn") == Some("\"deny\"");
            must(denied, "must deny unsafe_op_in_unsafe_fn");
            let documented = value(text, "[lints.clippy]", "undocumented_unsafe_blocks").is_some();
            must(documented, "must ask for a safety comment at every unsafe block (undocumented_unsafe_blocks)");
            must(value(text, "[lints.rust]", "missing_docs").is_some(), "must ask for missing_docs");
        } else {
            must(value(text, "[lints]", "workspace") == Some("true"), "must take the lints of the workspace");
        }
    }
    findings
}

/// Finds workspace dependencies that no crate uses. `workspace` is the text of the workspace manifest.
pub fn not_taken(workspace: &str, manifests: &[Manifest]) -> Vec<Finding> {
    let is_taken = |name: &str| {
        let mut taken = manifests.iter().flat_map(|manifest| dependencies(&manifest.text));
        taken.any(|dependency| dependency.name == name && dependency.is_inherited)
    };
    dependencies(workspace)
        .into_iter()
        .filter(|dependency| !is_taken(dependency.name))
        .map(|dependency| Finding::new("Cargo.toml", format!("no crate takes the dependency {}", dependency.name)))
        .collect()
}

/// Finds dependencies of crates whose code does not name them.
pub fn unused(manifests: &[Manifest], files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Manifest { name, folder, text } in manifests {
        let below = format!("{folder}/");
        let of_crate = || files.iter().filter(|file| file.path.ends_with(".rs") && file.path.starts_with(&below));
        for dependency in dependencies(text) {
            let word = dependency.name.replace('-', "_");
            if !of_crate().any(|file| has_word(&file.code, &word)) {
                findings.push(Finding::new(name, format!("does not use its dependency {}", dependency.name)));
            }
        }
    }
    findings
}

/// A dependency of a manifest.
#[derive(Debug, PartialEq, Eq)]
struct Dependency<'a> {
    /// Its name in the code.
    name: &'a str,
    /// True if it is inherited from the workspace.
    is_inherited: bool,
}

/// The dependencies of a manifest, including those of tests and of single targets: keys of `[dependencies]`, or tables
/// like `[dependencies.NAME]`.
fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut found: Vec<Dependency> = Vec::new();
    let mut section = "";
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
            let table = section.rsplit_once('.').filter(|(table, _)| table.ends_with("dependencies"));
            found.extend(table.map(|(_, name)| Dependency { name, is_inherited: false }));
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.replace(' ', ""));
        if section.ends_with("dependencies") && !key.starts_with('#') {
            let (name, is_inherited) = match key.split_once('.') {
                Some((name, "workspace")) => (name, value == "true"),
                Some((name, _)) => (name, false),
                None => (key, value.contains("workspace=true")),
            };
            found.push(Dependency { name, is_inherited });
        } else if section.contains("dependencies.") && (key, value.as_str()) == ("workspace", "true") {
            found.iter_mut().last().expect("its table begins above").is_inherited = true;
        }
    }
    found
}

/// The unparsed value of a key in a section.
fn value<'a>(manifest: &'a str, section: &str, key: &str) -> Option<&'a str> {
    entries(manifest, section).find_map(|(found, value)| (found == key).then_some(value))
}

/// The keys of a section and their unparsed values.
fn entries<'a>(manifest: &'a str, section: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let lines = manifest.lines().map(str::trim).skip_while(move |line| *line != section).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| line.split_once('=')).map(|(key, value)| (key.trim(), value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str, text: &str) -> Manifest {
        Manifest { name: name.to_owned(), folder: format!("crates/{name}"), text: text.to_owned() }
    }

    fn findings(name: &str, text: &str) -> usize {
        check(&[manifest(name, text)]).len()
    }

    #[test]
    fn crates_need_a_description_and_the_lints() {
        let good = "[package]\ndescription = \"Counts things well\"\n[lints]\nworkspace = true\n";
        assert_eq!(findings("diskperf-units", good), 0);
        assert_eq!(findings("diskperf-units", &good.replace("Counts things well", "TODO later on")), 1);
        assert_eq!(findings("diskperf-units", &good.replace("Counts things well", "")), 1);
        assert_eq!(findings("diskperf-units", &good.replace("true", "false")), 1);
        assert_eq!(findings("diskperf-units", "[package]\n[dependencies]\nworkspace = true\n"), 2);
    }

    #[test]
    fn names_of_libraries_begin_with_ours() {
        let good = "[package]\ndescription = \"Counts things well\"\n[lints]\nworkspace = true\n";
        for (name, count) in [("diskperf-stats", 0), ("stats", 1), ("diskperf", 0), ("xtask", 0)] {
            assert_eq!(findings(name, good), count, "{name}");
        }
    }

    #[test]
    fn the_crate_with_unsafe_code_has_its_own_lints() {
        let good = "[package]\ndescription = \"Calls the kernel\"\n[lints.rust]\nmissing_docs = \"warn\"\n\
            unsafe_op_in_unsafe_fn = \"deny\"\n[lints.clippy]\nundocumented_unsafe_blocks = \"warn\"\n";
        assert_eq!(findings("diskperf-kernel", good), 0);
        assert_eq!(findings("diskperf-kernel", &good.replace("deny", "allow")), 1);
        assert_eq!(findings("diskperf-kernel", "[package]\ndescription = \"Calls the kernel\"\n"), 3);
    }

    #[test]
    fn unused_workspace_dependencies_are_found() {
        let workspace = "[workspace.dependencies]\nclap = \"4\"\nserde = { version = \"1\" }\nsyn = \"3\"\n\
            [workspace.dependencies.toml]\nversion = \"1\"\n[profile.dev]\nx = 1\n";
        let takes = |lines: &str| not_taken(workspace, &[manifest("a", &format!("[dependencies]\n{lines}\n"))]);
        let all = "clap.workspace = true\nserde = { workspace = true, features = [\"std\"] }\n\
            [dev-dependencies]\nsyn = {workspace=true}\n[target.'cfg(unix)'.dependencies.toml]\nworkspace = true";
        assert_eq!(takes(all), []);
        let found = takes("clap.workspace = true\nserde = { version = \"1\" }\nsyn-mid.workspace = true");
        let messages: Vec<_> = found.iter().map(|finding| finding.message.as_str()).collect();
        let not_taken = ["serde", "syn", "toml"].map(|name| format!("no crate takes the dependency {name}"));
        assert_eq!(messages, not_taken);
    }

    #[test]
    fn dependencies_not_named_in_code_are_found() {
        let text = "[dependencies]\nclap.workspace = true\n[dev-dependencies.serde-json]\nworkspace = true\n";
        let found = |code: &str| unused(&[manifest("a", text)], &[File::new("crates/a/src/lib.rs", code)]).len();
        assert_eq!(found("use clap::Parser; fn f() { serde_json::to_string(a) }"), 0);
        assert_eq!(found("use clap::Parser; // serde_json"), 1);
        assert_eq!(found("use clap_mangen::Man; \"serde_json\""), 2);
        let elsewhere = [File::new("crates/ab/src/lib.rs", "clap serde_json")];
        assert_eq!(unused(&[manifest("a", text)], &elsewhere).len(), 2);
    }
}
