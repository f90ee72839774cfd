//! Words of fio that both `import` and `export` use: values, and settings that belong to no key alone. The settings of
//! the keys are in `load_spec`.

use clap::ValueEnum;

use crate::load_words::{ArrivalsName, Engine, PatternName, SyncName, name};

/// The settings of mixed block sizes, of a polling kernel thread, of a round that ends by its time only, of draws with
/// replacement, and of data that are durable after each block.
pub(super) const SPLIT: &str = "bssplit";
pub(super) const POLLS: &str = "sqthread_poll";
pub(super) const TIMED: &str = "time_based";
pub(super) const NO_MAP: &str = "norandommap";
pub(super) const FDATASYNC: &str = "fdatasync";

/// The names of each engine. `export` uses the first one. `sqpoll` is `io_uring` with [`POLLS`], and `auto` is another
/// one of these.
const ENGINES: [(Engine, &[&str]); 5] = [
    (Engine::Posix, &["psync", "sync", "vsync", "pvsync", "pvsync2"]),
    (Engine::Uring, &["io_uring"]),
    (Engine::Sqpoll, &["io_uring"]),
    (Engine::Mmap, &["mmap"]),
    (Engine::Null, &["null"]),
];

/// The engine with this name.
pub(super) fn engine(word: &str, polls: bool) -> Option<Engine> {
    let (engine, _) = ENGINES.iter().find(|(_, names)| names.contains(&word))?;
    Some(if *engine == Engine::Uring && polls { Engine::Sqpoll } else { *engine })
}

/// The name of an engine at this queue depth.
pub(super) fn engine_name(engine: Engine, depth: u32) -> Option<&'static str> {
    let engine = match engine {
        Engine::Auto if depth > 1 => Engine::Uring,
        Engine::Auto => Engine::Posix,
        other => other,
    };
    ENGINES.iter().find(|(other, _)| *other == engine).map(|(_, names)| names[0])
}

/// The pattern with this name. `commit` is a `write` with [`FDATASYNC`].
pub(super) fn pattern(word: &str) -> Option<PatternName> {
    PatternName::from_str(word, false).ok().filter(|pattern| *pattern != PatternName::Commit)
}

/// The name of a pattern.
pub(super) fn pattern_name(pattern: PatternName) -> String {
    name(if pattern == PatternName::Commit { PatternName::Write } else { pattern })
}

/// The flag of synchronous writes with this name.
pub(super) fn sync(word: &str) -> Option<SyncName> {
    if word == "1" { Some(SyncName::Sync) } else { SyncName::from_str(word, false).ok() }
}

/// The distribution of the time between starts with this name. The constant time is `linear`, the default.
pub(super) fn arrivals(word: &str) -> Option<ArrivalsName> {
    match word {
        "linear" => Some(ArrivalsName::Constant),
        other => ArrivalsName::from_str(other, false).ok().filter(|arrivals| *arrivals == ArrivalsName::Poisson),
    }
}
