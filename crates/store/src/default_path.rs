//! The default path of the store and its owner, decided from the data in [`UserEnvironment`] alone, without access to
//! the machine.
//!
//! Policy:
//!   1. `XDG_DATA_HOME/diskperf/store.sqlite`, if that variable is an absolute path;
//!   2. else under sudo: `.local/share/diskperf/store.sqlite` in the home of the user who called sudo, so that this
//!      user can read results measured as root;
//!   3. else the same in the home of this process's user;
//!   4. else no path.
//!
//! A store that is created under sudo belongs to the calling user, wherever it is.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// The name of the file.
const NAME: &str = "store.sqlite";

/// A user and a group, as numeric IDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The user ID.
    pub user: u32,
    /// The group ID.
    pub group: u32,
}

/// The environment that decides the default path of a store.
#[derive(Clone, Debug, Default)]
pub struct UserEnvironment {
    /// `XDG_DATA_HOME`.
    pub data_home: Option<OsString>,
    /// `HOME`.
    pub home: Option<OsString>,
    /// `SUDO_UID` and `SUDO_GID`.
    pub sudo: Option<(OsString, OsString)>,
    /// True if this process runs as root. Otherwise the variables of sudo are ignored.
    pub is_root: bool,
    /// The content of `/etc/passwd`.
    pub users: String,
}

impl UserEnvironment {
    /// Returns the environment of this process.
    pub fn here() -> UserEnvironment {
        let variable = |name: &str| std::env::var_os(name);
        UserEnvironment {
            data_home: variable("XDG_DATA_HOME"),
            home: variable("HOME"),
            sudo: variable("SUDO_UID").zip(variable("SUDO_GID")),
            is_root: rustix::process::geteuid().is_root(),
            users: users().unwrap_or_default(),
        }
    }

    /// Returns the owner of created files, if that is not the user of this process.
    pub fn owner(&self) -> Option<Owner> {
        let (user, group) = self.sudo.as_ref().filter(|_| self.is_root)?;
        let number = |text: &OsString| text.to_str()?.parse::<u32>().ok();
        let owner = Owner { user: number(user)?, group: number(group)? };
        (owner.user != 0).then_some(owner)
    }

    /// Returns the home of a user according to [`UserEnvironment::users`].
    fn home_of(&self, user: u32) -> Option<PathBuf> {
        self.users.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            let [_, _, number, _, _, home, ..] = fields[..] else { return None };
            (number.parse() == Ok(user)).then(|| PathBuf::from(home))
        })
    }
}

/// Reads `/etc/passwd`, at most 1 MiB: a list of a thousand users has a twentieth of that.
fn users() -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open("/etc/passwd")?.take(1 << 20).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the default path of the store; `None` if there is no home.
pub fn default_path(environment: &UserEnvironment) -> Option<PathBuf> {
    // 1
    let data = data_home(environment).or_else(|| Some(home(environment)?.join(".local/share")));
    // 4
    Some(data?.join("diskperf").join(NAME))
}

/// Returns the home that contains the default path; `None` if there is no home, or if `XDG_DATA_HOME` names the folder.
/// The home may be missing.
pub fn home(environment: &UserEnvironment) -> Option<PathBuf> {
    match environment.owner() {
        _ if data_home(environment).is_some() => None,
        // 2
        Some(owner) => environment.home_of(owner.user),
        // 3
        None => environment.home.as_deref().and_then(absolute),
    }
}

fn data_home(environment: &UserEnvironment) -> Option<PathBuf> {
    environment.data_home.as_deref().and_then(absolute)
}

fn absolute(path: &OsStr) -> Option<PathBuf> {
    Some(PathBuf::from(path)).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(data_home: Option<&str>, home: Option<&str>, sudo: Option<(&str, &str)>) -> UserEnvironment {
        UserEnvironment {
            data_home: data_home.map(OsString::from),
            home: home.map(OsString::from),
            sudo: sudo.map(|(user, group)| (user.into(), group.into())),
            is_root: true,
            users: "root:x:0:0:root:/root:/bin/sh\nbad line\nmary:x:1000:1001::/home/mary:/bin/sh\n".to_owned(),
        }
    }

    #[test]
    fn the_default_path_is_in_the_data_folder_of_the_user() {
        let place = |environment: &UserEnvironment| default_path(environment).map(|path| path.display().to_string());
        let own = "/root/.local/share/diskperf/store.sqlite";
        let marys = "/home/mary/.local/share/diskperf/store.sqlite";
        let sudo = Some(("1000", "1001"));
        for (data_home, home, sudo, expected) in [
            (None, Some("/root"), None, Some(own)),
            (Some("relative"), Some("/root"), None, Some(own)),
            (Some("/data"), Some("/root"), None, Some("/data/diskperf/store.sqlite")),
            (None, Some("/root"), sudo, Some(marys)),
            (Some("/data"), Some("/root"), sudo, Some("/data/diskperf/store.sqlite")),
            (None, Some("/root"), Some(("0", "0")), Some(own)),
            (None, Some("/root"), Some(("4711", "4711")), None),
            (None, Some("relative"), None, None),
            (None, None, None, None),
        ] {
            assert_eq!(place(&environment(data_home, home, sudo)).as_deref(), expected, "{data_home:?} {home:?}");
        }
        let home = |data_home, sudo| home(&environment(data_home, Some("/root"), sudo));
        assert_eq!(home(None, None), Some("/root".into()));
        assert_eq!(home(Some("relative"), sudo), Some("/home/mary".into()));
        assert_eq!(home(Some("/data"), sudo), None);
        let anybody = UserEnvironment { is_root: false, ..environment(None, Some("/home/eve"), sudo) };
        assert_eq!(place(&anybody).as_deref(), Some("/home/eve/.local/share/diskperf/store.sqlite"));
    }

    #[test]
    fn the_store_belongs_to_the_calling_user_under_sudo() {
        let owner = |sudo| environment(None, None, sudo).owner();
        assert_eq!(owner(Some(("1000", "1001"))), Some(Owner { user: 1000, group: 1001 }));
        assert_eq!([owner(None), owner(Some(("0", "0"))), owner(Some(("mary", "mary")))], [None; 3]);
    }
}
