//! The simulator and the machines do not use the published tables: a computed figure must not depend on the figure with
//! which it is compared.

use super::Finding;
use super::source::File;

/// The folders that must not use them.
const BLIND: [&str; 2] = ["crates/simulator/", "machines/"];

/// The folder from which the simulator may include files, apart from its own.
const INCLUDED: &str = "machines/";

/// Words in the path of a file with published results.
const RESULTS: [&str; 2] = ["published", "golden"];

/// Macros that include a file in the program.
const INCLUDES: [&str; 3] = ["include_str!", "include_bytes!", "include!"];

/// Finds files with results in these folders, and includes of files from elsewhere.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| BLIND.iter().any(|folder| file.path.starts_with(folder))) {
        if holds_results(&file.path) {
            findings.push(Finding::new(&file.path, "results do not belong here"));
        }
        if file.path.ends_with(".rs") {
            findings.extend(included(file).filter_map(|path| foreign(file, path)));
        }
    }
    findings
}

fn holds_results(path: &str) -> bool {
    path.split(['/', '.', '-', '_']).any(|word| RESULTS.contains(&word))
}

/// The unparsed arguments of all includes.
fn included(file: &File) -> impl Iterator<Item = &str> {
    INCLUDES.into_iter().flat_map(|name| file.uncommented.match_indices(name)).map(|(at, name)| {
        let after = &file.uncommented[at + name.len()..];
        after[..after.find(')').unwrap_or(after.len())].trim_start_matches('(').trim()
    })
}

/// Checks an include: its argument must be one plain path to a file of the crate or to a machine.
fn foreign(file: &File, argument: &str) -> Option<Finding> {
    let Some(path) = argument.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return Some(Finding::new(&file.path, format!("includes {argument}, which is no plain path")));
    };
    let (folder, _) = file.path.rsplit_once('/').unwrap_or_default();
    let resolved = resolve(folder, path);
    let known = resolved.as_deref().is_some_and(|path| path.starts_with(BLIND[0]) || path.starts_with(INCLUDED));
    if known && !holds_results(path) {
        return None;
    }
    Some(Finding::new(&file.path, format!("includes {path}, which lies outside the crate and the machines")))
}

/// The path from the root; `None` if it leaves the tree.
fn resolve(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()?),
            "." => {}
            "" => return None,
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        check(&[File::new(path, text)]).len()
    }

    #[test]
    fn the_simulator_reads_only_itself_and_machines() {
        let path = "crates/simulator/src/machine.rs";
        assert_eq!(findings(path, "include_str!(\"drive/rm05.tsv\")"), 0);
        assert_eq!(findings(path, "include_str!(\"../../../machines/vax780.toml\")"), 0);
        assert_eq!(findings(path, "// include_str!(\"../../diskperf/published/t1.csv\")"), 0);
        for bad in [
            "\"../../diskperf/t1.csv\"",
            "\"../../../golden/t1.txt\"",
            "\"../../../machines/published.csv\"",
            "\"/tmp/a\"",
            "concat!(\"a\", \"b\"",
            "\"../../../../a\"",
        ] {
            assert_eq!(findings(path, &format!("include_bytes!({bad})")), 1, "{bad}");
        }
    }

    #[test]
    fn published_results_are_elsewhere() {
        assert_eq!(findings("machines/vax780.toml", "# published: the handbook\n"), 0);
        assert_eq!(findings("machines/published/t1.csv", ""), 1);
        assert_eq!(findings("crates/simulator/src/published.rs", ""), 1);
        assert_eq!(findings("crates/campaign/src/published.rs", "include_str!(\"/etc/a\")"), 0);
    }
}
