//! The licences of the third-party code in the program. Most require that their text accompanies every copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};

use crate::process;

/// The beginnings of licence file names, in lower case.
const NAMES: [&str; 4] = ["license", "licence", "copying", "notice"];

/// The licences of the libraries in every program for the target, and of SQLite.
const LIBC: &str = "musl, the C library: MIT, Copyright (c) 2005-2020 Rich Felker, et al.\n\
                    Rust's standard library: MIT OR Apache-2.0, the Rust project contributors.\n\
                    SQLite: in the public domain.\n\n";

/// The list of all third-party crates in the program for that target, each with its licence, followed by every text
/// once.
pub fn list(target: &str) -> Result<String, String> {
    let metadata = MetadataCommand::new()
        .current_dir(process::root())
        .other_options(["--filter-platform".to_owned(), target.to_owned()])
        .exec()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let mut crates = String::new();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in inside(&metadata) {
        let name = format!("{} {}", package.name, package.version);
        crates += &format!("{name}: {}\n", package.license.as_deref().unwrap_or("see its text"));
        for text in texts_in(package.manifest_path.parent().map(Path::new).unwrap_or(Path::new("."))) {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    let texts = texts.into_iter().map(|(text, names)| format!("\n==== {}\n\n{}\n", names.join(", "), text.trim_end()));
    Ok(format!("{LIBC}{crates}{}", texts.collect::<String>()))
}

/// The third-party crates that are linked into the program: its direct and indirect dependencies.
fn inside(metadata: &Metadata) -> Vec<&Package> {
    let Some(resolve) = &metadata.resolve else { return Vec::new() };
    let mut found: BTreeSet<&PackageId> = BTreeSet::new();
    let mut left: Vec<&PackageId> =
        metadata.packages.iter().filter(|package| package.name == "diskperf").map(|package| &package.id).collect();
    while let Some(id) = left.pop() {
        let node = resolve.nodes.iter().find(|node| node.id == *id).filter(|_| found.insert(id));
        let is_linked = |kind: &cargo_metadata::DepKindInfo| kind.kind == DependencyKind::Normal;
        let linked = node.into_iter().flat_map(|node| &node.deps).filter(|dep| dep.dep_kinds.iter().any(is_linked));
        left.extend(linked.map(|dependency| &dependency.pkg));
    }
    metadata.packages.iter().filter(|package| package.source.is_some() && found.contains(&package.id)).collect()
}

/// The licence texts in a folder.
fn texts_in(folder: &Path) -> Vec<String> {
    let is_licence = |name: &str| NAMES.iter().any(|begin| name.to_lowercase().starts_with(begin));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries
        .filter(|entry| is_licence(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    paths.sort_unstable();
    paths.iter().filter_map(|path| fs::read_to_string(path).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_linked_crates_are_listed_with_their_licences() {
        let text = list("x86_64-unknown-linux-gnu").expect("cargo knows");
        for name in ["clap ", "rusqlite ", "serde_json "] {
            assert!(text.lines().any(|line| line.starts_with(name) && line.contains("MIT")), "{name}");
        }
        for name in ["proptest ", "seccompiler ", "units "] {
            assert!(!text.lines().any(|line| line.starts_with(name)), "{name}");
        }
        assert!(text.contains("Permission is hereby granted") && text.contains("Apache License"));
    }
}
