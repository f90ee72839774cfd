//! The results database that a command uses.
//!
//! Policy, which database:
//!   1. `--store PATH`;
//!   2. `DISKPERF_STORE`, if it is set and not empty; `none` means no database;
//!   3. the usual place (`store::default_path`), the only one whose folder is created.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::Args;
use kernel::observe::mount::is_under_dev;
use kernel::{PathFault, ProcessIdentity};
use stats::Document;
use store::{LAST, Listed, RunState, Store, UserEnvironment, default_path, home};

use super::inputs;
use crate::error::{Error, RunsError};
use crate::ui::output;

/// The variable that names the database.
const VARIABLE: &str = "DISKPERF_STORE";

/// The value of the variable if nothing is to be stored.
const NONE: &str = "none";

/// Option for the results database.
#[derive(Clone, Debug, Default, Args)]
pub struct StoreArguments {
    /// Results database.
    ///
    /// [default: DISKPERF_STORE, or diskperf/store.sqlite in XDG_DATA_HOME or ~/.local/share; under sudo, in the home
    /// of the calling user]. DISKPERF_STORE=none stores nothing.
    #[arg(long = "store", value_name = "PATH")]
    path: Option<PathBuf>,
}

/// Options for storing something.
#[derive(Clone, Debug, Default, Args)]
pub struct KeepArguments {
    #[command(flatten)]
    store: StoreArguments,
    /// Do not store this run in the results database.
    #[arg(long, conflicts_with = "path")]
    no_store: bool,
}

/// Options for storing a run.
#[derive(Clone, Debug, Default, Args)]
pub struct RunStoreArguments {
    #[command(flatten)]
    keep: KeepArguments,
    /// Name of the run.
    ///
    /// `list` shows it, and commands that take a run also take its name. The latest run of a name counts.
    #[arg(long, value_parser = parse_name)]
    name: Option<String>,
}

/// The longest name of a run. Longer ones make the list too wide.
const LONGEST_NAME: usize = 40;

/// Reads the name of a run.
pub fn parse_name(text: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_+".contains(letter);
    match text {
        LAST => Err("this word means the latest run".to_owned()),
        _ if text.is_empty() || text.len() > LONGEST_NAME || text.starts_with('-') || !text.chars().all(is_plain) => {
            Err(format!("a name has 1 to {LONGEST_NAME} letters, digits, -, _ or +"))
        }
        _ => Ok(text.to_owned()),
    }
}

impl RunStoreArguments {
    /// The name of the run, if one is given.
    pub fn name(&self) -> Option<String> {
        self.name.clone()
    }

    /// True if the user named the run or its database.
    pub fn is_named(&self) -> bool {
        self.name.is_some() || self.keep.store.path.is_some()
    }

    /// Refuses the output file as the database.
    pub fn refuse_output(&self) -> Result<(), PathFault> {
        match self.keep.no_store {
            true => Ok(()),
            false => self.keep.store.choice(&UserEnvironment::here()).refuse_output(),
        }
    }

    /// Stores runs in this database.
    pub fn of(store: StoreArguments) -> RunStoreArguments {
        RunStoreArguments { keep: KeepArguments { store, no_store: false }, name: None }
    }

    /// Opens the database; `None` if nothing is to be stored. Warns if there is no place for a database.
    pub fn to_write(&self) -> Result<Option<Store>, Error> {
        self.keep.to_write()
    }
}

impl KeepArguments {
    /// Opens the database; `None` if nothing is to be stored. Warns if there is no place for a database.
    pub fn to_write(&self) -> Result<Option<Store>, Error> {
        if self.no_store {
            return Ok(None);
        }
        match self.store.to_write() {
            Err(Error::Runs(error @ RunsError::NowhereToStore)) => {
                output::remark(&format!("not stored: {error}; name a results database: --store PATH"));
                Ok(None)
            }
            opened => opened,
        }
    }
}

/// The database that the policy chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Choice {
    /// The path of an option or variable.
    Named(PathBuf),
    Usual(PathBuf),
    /// There is no usual place here.
    Nowhere,
    /// Nothing is to be stored.
    None,
}

impl Choice {
    /// Refuses the output file as the database.
    fn refuse_output(&self) -> Result<(), PathFault> {
        match self {
            Choice::Named(path) | Choice::Usual(path) => inputs::will_store(path),
            Choice::Nowhere | Choice::None => Ok(()),
        }
    }
}

impl StoreArguments {
    /// The database that the words of a command line name. They need not be a valid command line.
    pub fn named_in(words: &[OsString]) -> StoreArguments {
        let mut path = None;
        let mut own = words.iter().take_while(|word| *word != "--");
        while let Some(word) = own.next() {
            if word == "--store" {
                path = own.next().map(PathBuf::from);
            } else if let Some(attached) = word.as_bytes().strip_prefix(b"--store=") {
                path = Some(OsStr::from_bytes(attached).into());
            }
        }
        StoreArguments { path }
    }

    /// Opens the database for writing, and creates it if it is missing. `None` if nothing is to be stored.
    pub fn to_write(&self) -> Result<Option<Store>, Error> {
        let environment = UserEnvironment::here();
        let owner = environment.owner();
        let choice = self.choice(&environment);
        choice.refuse_output()?;
        Ok(match choice {
            // A typing error, never to be created.
            Choice::Named(path) if is_under_dev(&path) && matches!(path.try_exists(), Ok(false)) => {
                return Err(PathFault::MissingDevice(path).into());
            }
            Choice::Named(path) => Some(Store::open(&path, owner)?),
            Choice::Usual(path) => {
                match Store::make_folder(&path, owner) {
                    // A user of a service or container often has a home that does not exist: HOME=/nonexistent.
                    Err(_) if home(&environment).is_some_and(|home| !home.is_dir()) => {
                        return Err(RunsError::NowhereToStore.into());
                    }
                    made => made?,
                }
                Some(Store::open(&path, owner)?)
            }
            Choice::Nowhere => return Err(RunsError::NowhereToStore.into()),
            Choice::None => None,
        })
    }

    /// Opens the database for reading. `None` if the usual place has none yet.
    pub fn to_read(&self) -> Result<Option<Store>, Error> {
        let choice = self.choice(&UserEnvironment::here());
        choice.refuse_output()?;
        match choice {
            Choice::Named(path) => Ok(Some(Store::open_to_read(&path)?)),
            Choice::Usual(path) => match Store::open_to_read(&path) {
                Err(store::StoreError::Missing(_)) => Ok(None),
                opened => Ok(Some(opened?)),
            },
            Choice::Nowhere => Err(RunsError::NowhereToStore.into()),
            Choice::None => Err(RunsError::NothingIsStored(VARIABLE).into()),
        }
    }

    /// Loads a stored run by its id, the unique beginning of an id, a name, or `last`.
    pub fn load(&self, typed: &str) -> Result<Document, Error> {
        let unknown = || store::StoreError::UnknownRun { typed: typed.to_owned(), near: Vec::new() };
        let store = self.to_read()?.ok_or_else(unknown)?;
        Ok(store.document(&store.find(typed)?)?)
    }

    /// The same database for a process in another folder.
    pub fn absolute(&self) -> StoreArguments {
        match self.choice(&UserEnvironment::here()) {
            Choice::Named(path) => StoreArguments { path: Some(std::path::absolute(&path).unwrap_or(path)) },
            Choice::Usual(_) | Choice::Nowhere | Choice::None => self.clone(),
        }
    }

    fn choice(&self, environment: &UserEnvironment) -> Choice {
        choice(self.path.clone(), std::env::var_os(VARIABLE).as_deref(), default_path(environment))
    }
}

fn choice(named: Option<PathBuf>, variable: Option<&OsStr>, usual: Option<PathBuf>) -> Choice {
    match (named, variable.filter(|variable| !variable.is_empty())) {
        // 1
        (Some(path), _) => Choice::Named(path),
        // 2
        (None, Some(variable)) if variable == NONE => Choice::None,
        (None, Some(variable)) => Choice::Named(PathBuf::from(variable)),
        // 3
        (None, None) => usual.map_or(Choice::Nowhere, Choice::Usual),
    }
}

/// The state of a run, for people. A run whose process is gone without a final state was killed.
pub fn state(run: &Listed) -> &'static str {
    match run.state {
        RunState::Running if !is_alive(&run.holder) => "killed",
        state => state.name(),
    }
}

/// True if the process that holds a run still measures.
pub fn is_alive(holder: &str) -> bool {
    holder.parse::<ProcessIdentity>().is_ok_and(|process| process.lives())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_device_is_not_created_as_a_database() {
        let name = "/dev/diskperf-no-such-device";
        let arguments = StoreArguments { path: Some(name.into()) };
        let refused = arguments.to_write().expect_err("it is refused");
        assert_eq!(refused.to_string(), format!("there is no device {name}; nothing was created"));
        assert!(!PathBuf::from(name).exists());
    }

    #[test]
    fn the_store_option_is_found_in_any_words() {
        let named = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            StoreArguments::named_in(&words).path
        };
        assert_eq!(named("d show --store a --format"), Some("a".into()));
        assert_eq!(named("d show --store=a=b"), Some("a=b".into()));
        for line in ["d show", "d show --store", "d run --no-store . -- x --store a"] {
            assert_eq!(named(line), None, "{line}");
        }
    }

    #[test]
    fn options_override_variables_and_variables_defaults() {
        let path = |path: &str| Some(PathBuf::from(path));
        let choose = |named: Option<&str>, variable: Option<&str>, usual: Option<&str>| {
            choice(named.and_then(path), variable.map(OsStr::new), usual.and_then(path))
        };
        assert_eq!(choose(Some("a"), Some("none"), Some("c")), Choice::Named("a".into()));
        assert_eq!(choose(None, Some("b"), Some("c")), Choice::Named("b".into()));
        assert_eq!(choose(None, Some("none"), Some("c")), Choice::None);
        assert_eq!(choose(None, Some(""), Some("c")), Choice::Usual("c".into()));
        assert_eq!(choose(None, None, None), Choice::Nowhere);
    }
}
