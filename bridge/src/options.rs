//! The command line of `diskperf-mpi`: its own options, then the words of `diskperf`.

use std::ffi::OsString;
use std::time::Duration;

/// The help text.
pub const HELP: &str = "\
Run diskperf on many hosts at once, started by MPI.

Usage: mpirun --map-by ppr:1:node --bind-to none diskperf-mpi [--patience SECONDS] COMMAND...

COMMAND is that of diskperf: run, io or choose, with its options and directories, or resume, which needs the same hosts
in the same order. %h in a path is the name of the host.

Options:
  --patience SECONDS  Name hosts that are this far behind the first one; after ten times as long, end the run
                      [default: 60]
  --help              Print this text

diskperf-mpi starts the program diskperf in its own folder, or else the one in PATH. DISKPERF_PROGRAM=FILE names
another one.
";

/// The time after which a late host is named. Chosen: longer than a cache takes to be written, on most machines.
const PATIENCE: Duration = Duration::from_secs(60);

/// The command line.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    /// The time after which a late host is named.
    pub patience: Duration,
    /// The words of `diskperf`.
    pub words: Vec<OsString>,
}

impl Options {
    /// Reads the command line. `None` if the help text is wanted.
    pub fn read(words: Vec<OsString>) -> Result<Option<Options>, String> {
        let mut options = Options { patience: PATIENCE, words };
        loop {
            match options.words.first().and_then(|word| word.to_str()) {
                None | Some("--help" | "-h") => return Ok(None),
                Some("--patience") => {
                    let seconds = options.words.get(1).and_then(|word| word.to_str());
                    let seconds = seconds.and_then(|word| word.trim_end_matches('s').parse().ok());
                    let seconds = seconds.filter(|seconds| *seconds > 0);
                    let seconds = seconds.ok_or("--patience needs a whole number of seconds, as in --patience 60")?;
                    options.patience = Duration::from_secs(seconds);
                    options.words.drain(..2);
                }
                Some(_) => return Ok(Some(options)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Option<Options>, String> {
        Options::read(line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn own_options_come_before_the_words() {
        let seconds =
            |line| read(line).map(|options| options.map(|options| (options.patience.as_secs(), options.words.len())));
        assert_eq!(seconds("--patience 5s run quick . --patience"), Ok(Some((5, 4))));
        assert_eq!(seconds("io randread ."), Ok(Some((60, 3))));
        assert_eq!(seconds(""), Ok(None));
        assert!(seconds("--patience 0 run").is_err() && seconds("--patience").is_err());
    }
}
