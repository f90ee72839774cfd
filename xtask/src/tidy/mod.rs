//! `cargo xtask tidy`: the project rules that no compiler enforces.
//!
//! Each rule is a file: the allowed cases, then a pure function from texts or metadata to findings, then tests which
//! show that the rule can fail. An exception is a line in the rule's own list, with its reason.

mod circles;
mod crate_dependencies;
mod design_pages;
mod file_lengths;
mod folder_sizes;
mod ignored_tests;
mod line_lengths;
mod machine_files;
mod manifests;
mod no_std_crates;
mod orphan_tests;
mod prose;
mod published_tables;
mod restricted_actions;
mod safety_page;
mod source;
mod terminal_output;
mod unsafe_code;

use std::fmt;
use std::fs;
use std::path::Path;

use cargo_metadata::{MetadataCommand, Package};

use crate::process;
use manifests::Manifest;
use source::File;

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A path from the root of the workspace, or the name of a crate.
    pub place: String,
    /// The problem and its remedy.
    pub message: String,
}

impl Finding {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Finding {
        Finding { place: place.into(), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// The result of all rules.
pub struct Report {
    findings: Vec<Finding>,
    /// Rules that could not be checked here, each with the reason.
    pub skips: Vec<(&'static str, String)>,
}

impl Report {
    /// Prints the findings. Returns an error if there are any.
    pub fn verdict(&self) -> Result<(), String> {
        for finding in &self.findings {
            println!("{finding}");
        }
        match self.findings.len() {
            0 => Ok(()),
            count => Err(format!("{count} findings")),
        }
    }
}

/// Runs the task.
pub fn run() -> Result<(), String> {
    let report = check()?;
    for (rule, reason) in &report.skips {
        println!("skipped: tidy::{rule}: {reason}");
    }
    report.verdict()?;
    println!("tidy");
    Ok(())
}

/// Checks every rule.
pub fn check() -> Result<Report, String> {
    let root = process::root();
    let files = source_files(&root)?;
    let metadata = MetadataCommand::new().current_dir(&root).exec().map_err(|error| error.to_string())?;
    let ours: Vec<_> = metadata.workspace_packages();
    let manifests: Vec<Manifest> = ours.iter().map(|package| manifest(&root, package)).collect::<Result<_, _>>()?;

    let mut findings = Vec::new();
    findings.extend(crate_dependencies::check(&crate_dependencies::crates(&ours)));
    findings.extend(manifests::check(&manifests));
    findings.extend(manifests::not_taken(&read(&root.join("Cargo.toml"))?, &manifests));
    findings.extend(manifests::unused(&manifests, &files));
    findings.extend(no_std_crates::check(&files));
    findings.extend(unsafe_code::check(&files));
    findings.extend(restricted_actions::check(&files));
    findings.extend(published_tables::check(&files));
    findings.extend(machine_files::check(&files));
    findings.extend(file_lengths::check(&files));
    findings.extend(line_lengths::check(&files));
    findings.extend(folder_sizes::check(&files));
    findings.extend(terminal_output::check(&files));
    findings.extend(circles::check(&files));
    findings.extend(ignored_tests::check(&files));
    findings.extend(orphan_tests::check(&files));
    findings.extend(safety_page::check(&read(&root.join(safety_page::PAGE))?, &files));
    let pages = pages(&root)?;
    findings.extend(prose::check(&pages));
    let of_design: Vec<_> = pages.into_iter().filter(|(path, _)| design_pages::is_page(path)).collect();
    findings.extend(design_pages::check(&of_design, &paths_below(&root, "")?));

    let mut skips = Vec::new();
    match no_std_crates::build()? {
        no_std_crates::Outcome::Built => {}
        no_std_crates::Outcome::Failed(finding) => findings.push(finding),
        no_std_crates::Outcome::NoTarget(reason) => skips.push(("bare_target", reason)),
    }
    Ok(Report { findings, skips })
}

fn manifest(root: &Path, package: &Package) -> Result<Manifest, String> {
    let path = package.manifest_path.as_std_path();
    let folder = path.parent().and_then(|folder| folder.strip_prefix(root).ok()).unwrap_or(root);
    let folder = folder.to_string_lossy().into_owned();
    Ok(Manifest { name: package.name.to_string(), folder, text: read(path)? })
}

/// The pages that users read: those of `prose`, and all pages below `docs`. Each is a path and its text.
fn pages(root: &Path) -> Result<Vec<(String, String)>, String> {
    let mut paths: Vec<String> = prose::PAGES.iter().map(|page| (*page).to_owned()).collect();
    paths.extend(paths_below(root, "docs")?.into_iter().filter(|path| path.ends_with(".md")));
    paths.into_iter().map(|path| read(&root.join(&path)).map(|text| (path, text))).collect()
}

/// Every Rust file in the tree and every file under `machines`, sorted. Hidden folders and the root's `target` are not
/// part of the tree.
fn source_files(root: &Path) -> Result<Vec<File>, String> {
    let mut paths = paths_below(root, "")?;
    paths.retain(|path| path.ends_with(".rs") || path.starts_with("machines/"));
    paths.into_iter().map(|path| read(&root.join(&path)).map(|text| File::new(path, text))).collect()
}

/// The files below a folder, as sorted paths from the root.
fn paths_below(root: &Path, folder: &str) -> Result<Vec<String>, String> {
    let mut paths = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
        for entry in entries {
            let path = entry.map_err(|error| format!("cannot list {}: {error}", folder.display()))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !path.is_dir() {
                paths.push(path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned());
            } else if !name.starts_with('.') && path != root.join("target") {
                folders.push(path);
            }
        }
    }
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_target_folder_of_the_root_is_skipped() {
        let root = tempfile::tempdir().expect("a folder");
        for folder in ["target", ".git", "crates/a/src/target"] {
            fs::create_dir_all(root.path().join(folder)).expect("a folder");
            fs::write(root.path().join(folder).join("b.rs"), "").expect("a file");
        }
        assert_eq!(paths_below(root.path(), ""), Ok(vec!["crates/a/src/target/b.rs".to_owned()]));
    }
}
