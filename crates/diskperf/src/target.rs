//! Where programs run: what is typed, and what it means.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use kernel::place::{Place, is_under_dev, takes_direct};

use crate::error::Error;

/// A target as it was typed: `PATH`, `sim:MACHINE`, each with an optional `name=` before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetArgument {
    /// What the tables call it.
    pub name: String,
    /// All that was typed.
    pub typed: String,
    /// What it means.
    pub kind: TargetKind,
}

/// What a target is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A directory: a private subfolder is made and removed.
    Directory(PathBuf),
    /// A simulated machine.
    Simulated(String),
}

impl FromStr for TargetArgument {
    type Err = std::convert::Infallible;

    /// A name is a word of letters, digits, `-` and `_` before the first `=`; anything else belongs to the
    /// path.
    fn from_str(typed: &str) -> Result<TargetArgument, Self::Err> {
        let is_name =
            |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        let named = typed.split_once('=').filter(|(name, rest)| is_name(name) && !rest.is_empty());
        let (name, rest) = named.map_or((typed, typed), |(name, rest)| (name, rest));
        let kind = match rest.strip_prefix("sim:") {
            Some(machine) => TargetKind::Simulated(machine.to_owned()),
            None => TargetKind::Directory(PathBuf::from(rest)),
        };
        Ok(TargetArgument { name: name.to_owned(), typed: typed.to_owned(), kind })
    }
}

/// A target that exists.
#[derive(Clone, Debug)]
pub struct Target {
    /// What the tables call it.
    pub name: String,
    /// All that was typed.
    pub typed: String,
    /// Where it is.
    pub site: Site,
}

/// Where a target is.
#[derive(Clone, Debug)]
pub enum Site {
    /// In a directory of the real kernel.
    Directory { path: PathBuf, place: Place },
    /// On a simulated machine.
    Simulated { machine: String },
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Target {
    /// Looks whether the target is what it must be. Touches nothing.
    pub fn resolve(argument: &TargetArgument) -> Result<Target, Error> {
        let site = match &argument.kind {
            TargetKind::Directory(path) => directory(path, &argument.typed)?,
            TargetKind::Simulated(machine) => {
                if !simulator::Machine::NAMES.contains(&machine.as_str()) {
                    return Err(Error::UnknownMachine(machine.clone()));
                }
                Site::Simulated { machine: machine.clone() }
            }
        };
        Ok(Target { name: argument.name.clone(), typed: argument.typed.clone(), site })
    }

    /// All of them; no two may have one name.
    pub fn resolve_all(arguments: &[TargetArgument]) -> Result<Vec<Target>, Error> {
        let targets: Vec<Target> = arguments.iter().map(Target::resolve).collect::<Result<_, _>>()?;
        for (index, target) in targets.iter().enumerate() {
            if targets[..index].iter().any(|other| other.name == target.name) {
                return Err(Error::SameName(target.name.clone()));
            }
        }
        Ok(targets)
    }

    /// Whether these targets can be busy at once: all on the real kernel, or all on one simulated machine.
    pub fn share_a_world<'a>(targets: impl IntoIterator<Item = &'a Target>) -> bool {
        let machine = |target: &'a Target| match &target.site {
            Site::Directory { .. } => None,
            Site::Simulated { machine } => Some(machine.as_str()),
        };
        let mut machines = targets.into_iter().map(machine);
        let first = machines.next();
        machines.all(|machine| Some(machine) == first)
    }

    /// Why no program can go past the page cache here, where none can. Makes and removes an unnamed file.
    pub fn refuses_direct(&self) -> Option<String> {
        match &self.site {
            Site::Directory { path, place } if !takes_direct(path) => {
                Some(format!("{} takes no O_DIRECT", place.file_system.as_deref().unwrap_or("this file system")))
            }
            Site::Directory { .. } | Site::Simulated { .. } => None,
        }
    }

    /// Refuses where the programs would not fit. `needed` bytes, and a twentieth of that for the file
    /// system's own.
    pub fn check_room(&self, needed: u64) -> Result<(), Error> {
        let Site::Directory { path, place } = &self.site else { return Ok(()) };
        let needed = needed.saturating_add(needed / 20);
        if place.free_bytes >= needed {
            return Ok(());
        }
        let (free, needed) = (units::Bytes(place.free_bytes), units::Bytes(needed));
        Err(Error::NoRoom { path: path.clone(), free, needed })
    }
}

fn directory(path: &Path, typed: &str) -> Result<Site, Error> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(missing(path, typed)),
        Err(source) => return Err(Error::Unreadable { path: path.to_owned(), source }),
    };
    if !metadata.is_dir() {
        return Err(Error::NotADirectory(path.to_owned()));
    }
    let place = Place::under(path).map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    Ok(Site::Directory { path: path.to_owned(), place })
}

fn missing(path: &Path, typed: &str) -> Error {
    // `image:ext4` is no file that someone forgot to make.
    let scheme = typed.split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
    if scheme.is_some_and(is_scheme) {
        return Error::UnknownTarget(typed.to_owned());
    }
    if is_under_dev(path) { Error::MissingDevice(path.to_owned()) } else { Error::Missing(path.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> TargetArgument {
        let Ok(argument) = text.parse();
        argument
    }

    #[test]
    fn a_name_may_stand_before_a_target() {
        assert_eq!(typed("a=/mnt/x").name, "a");
        assert_eq!(typed("a=/mnt/x").kind, TargetKind::Directory("/mnt/x".into()));
        assert_eq!(typed("old=sim:flat").kind, TargetKind::Simulated("flat".to_owned()));
        assert_eq!(typed(".").name, ".");
    }

    #[test]
    fn an_equals_sign_in_a_path_is_part_of_it() {
        assert_eq!(typed("./a=b").kind, TargetKind::Directory("./a=b".into()));
        assert_eq!(typed("=x").kind, TargetKind::Directory("=x".into()));
    }
}
