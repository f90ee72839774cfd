//! Directories that are given twice: two names of one directory compare nothing but chance.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use stats::TargetInfo;

use super::{Site, Target};

/// Adds to the description of each target the name of the first target that is the same directory. Descriptions and
/// targets have the same order.
pub fn mark_same_directories(targets: &[Target], infos: &mut [TargetInfo]) {
    let directories: Vec<Option<(u64, u64)>> = targets.iter().map(directory).collect();
    for (place, info) in infos.iter_mut().enumerate() {
        let own = directories.get(place).copied().flatten();
        let first = directories[..place.min(directories.len())].iter().position(|other| own.is_some() && *other == own);
        info.same_as = first.map(|first| targets[first].name.clone());
    }
}

/// The identity of a directory: its device and inode number, whatever path leads to it.
fn directory(target: &Target) -> Option<(u64, u64)> {
    match &target.site {
        Site::Directory { path, .. } => identity(path),
        _ => None,
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_directory_is_the_same_by_any_path() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        [&one, &other].into_iter().for_each(|folder| fs::create_dir(folder).expect("a folder"));
        let link = folder.path().join("link");
        symlink(&one, &link).expect("a link");
        let typed = [("a", &one), ("b", &other), ("c", &link), ("d", &one)];
        let targets: Vec<Target> = typed
            .iter()
            .map(|(name, path)| {
                let typed = format!("{name}={}", path.display());
                let Ok(argument) = typed.parse();
                Target::resolve(&argument).expect("a target")
            })
            .chain(["e=sim:flat", "f=sim:flat"].map(|typed| {
                let Ok(argument) = typed.parse();
                Target::resolve(&argument).expect("a target")
            }))
            .collect();
        let mut infos = vec![TargetInfo::default(); targets.len()];
        mark_same_directories(&targets, &mut infos);
        let same: Vec<Option<&str>> = infos.iter().map(|info| info.same_as.as_deref()).collect();
        assert_eq!(same, [None, None, Some("a"), Some("a"), None, None]);
    }
}
