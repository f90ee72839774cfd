//! Finds out which hosts see the same directory: each host makes a private folder there, and looks for those of the
//! others. A directory that only some hosts share would be measured twice by them and once by the rest.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use kernel::Workspace;

use super::fault::PeerFault;
use crate::error::CampaignError;
use crate::targets::{Site, Target};

/// The time for which a host looks again if it does not see the folders of all hosts: a network file system may show a
/// new name late. Guess: attributes are cached for seconds (`acdirmin` in nfs(5) is 30 s, but a host asks at once for a
/// name that it never looked up).
const PATIENCE: Duration = Duration::from_secs(2);

/// The time between two looks. Chosen.
const PAUSE: Duration = Duration::from_millis(100);

/// Makes a private folder in each directory. Returns the folders, and the directories.
pub fn folders(targets: &[Target]) -> Result<(Vec<Workspace>, Vec<PathBuf>), CampaignError> {
    let directories = targets.iter().filter_map(|target| match &target.site {
        Site::Directory { path, .. } => Some(path.clone()),
        _ => None,
    });
    let directories: Vec<PathBuf> = directories.collect();
    let folders = directories.iter().map(|directory| Workspace::inside(directory)).collect::<Result<_, _>>()?;
    Ok((folders, directories))
}

/// The names of the private folders on each host, in the order of the targets.
pub fn names(folders: &[Workspace]) -> Vec<String> {
    let name = |folder: &Workspace| folder.path().file_name().map(|name| name.to_string_lossy().into_owned());
    folders.iter().map(|folder| name(folder).unwrap_or_default()).collect()
}

/// For each host, whether the folder of this name exists in the directory.
pub fn seen(directory: &Path, names: &[&str]) -> Vec<bool> {
    let look = || names.iter().map(|name| directory.join(name).symlink_metadata().is_ok()).collect::<Vec<bool>>();
    let is_partial = |seen: &[bool]| seen.iter().any(|is_seen| !is_seen);
    let began = Instant::now();
    let mut seen = look();
    while is_partial(&seen) && began.elapsed() < PATIENCE {
        thread::sleep(PAUSE);
        seen = look();
    }
    seen
}

/// Decides from what each host saw of each host: true if all share the directory, false if each has its own.
pub fn decide(target: &str, hosts: &[&str], seen: &[Vec<bool>]) -> Result<bool, PeerFault> {
    let sees = |host: usize, other: usize| seen[host].get(other).copied().unwrap_or(false);
    let all = 0..hosts.len();
    if all.clone().all(|host| all.clone().all(|other| sees(host, other))) {
        return Ok(hosts.len() > 1);
    }
    if all.clone().all(|host| all.clone().all(|other| host == other || !sees(host, other))) {
        return Ok(false);
    }
    // The first host that shares with another one, and the hosts that do not share with it.
    let first = all.clone().find(|&host| all.clone().any(|other| host != other && sees(host, other))).unwrap_or(0);
    let (together, apart): (Vec<usize>, Vec<usize>) = all.partition(|&other| other == first || sees(first, other));
    let named = |of: Vec<usize>| of.into_iter().map(|host| hosts[host]).collect::<Vec<&str>>().join(", ");
    Err(PeerFault::PartlyShared { target: target.to_owned(), together: named(together), apart: named(apart) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_or_none_share_a_directory() {
        let hosts = ["a", "b", "c"];
        let only = |own: usize| (0..3).map(|host| host == own).collect::<Vec<bool>>();
        assert_eq!(decide("t", &hosts, &[vec![true; 3], vec![true; 3], vec![true; 3]]), Ok(true));
        assert_eq!(decide("t", &hosts, &[only(0), only(1), only(2)]), Ok(false));
        assert_eq!(decide("t", &["a"], &[vec![true]]), Ok(false));
        let partly = decide("t", &hosts, &[only(0), vec![false, true, true], vec![false, true, true]]);
        assert_eq!(partly.expect_err("a refusal").to_string(), "t is one directory on b, c, but another on a");
    }

    #[test]
    fn folders_are_seen_where_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let made = Workspace::inside(folder.path()).expect("a private folder");
        let folders = [made];
        let names = names(&folders);
        assert_eq!(seen(folder.path(), &[&names[0], "other"]), [true, false]);
    }
}
