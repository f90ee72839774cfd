//! Words of fio that both `import` and `export` use: values, and settings that belong to no key alone. The settings of
//! the keys are in `load_spec`.

use clap::ValueEnum;

use crate::load_spec::LoadSpec;
use crate::load_words::{ArrivalsName, Engine, PatternName, SyncName, name};

/// The setting of mixed block sizes.
pub(super) const SPLIT: &str = "bssplit";

/// The setting of a polling kernel thread.
pub(super) const POLLS: &str = "sqthread_poll";

/// The setting of a round that ends by its time only.
pub(super) const TIMED: &str = "time_based";

/// The setting of the time before a section starts.
pub(super) const DELAY: &str = "startdelay";

/// The setting of draws with replacement.
pub(super) const NO_MAP: &str = "norandommap";

/// The setting of a file that is written before it is measured, although the workload does not read it.
pub(super) const OVERWRITE: &str = "overwrite";

/// The setting of the number of bytes in a `k`.
pub(super) const KB_BASE: &str = "kb_base";

/// The difference of a rate of operations with several block sizes (`usec_for_io` in `backend.c` of fio 3.41).
pub const PACED_BY_BYTES: &str = "fio up to 3.41 paces by bytes, as if all blocks were the smallest";

/// The difference of a stride (`get_next_seq_offset` in `io_u.c`).
pub(super) const PASSES: &str = "fio starts each pass at the same block, and diskperf starts it one block later";

/// The setting of a file that is evicted from the page cache before it is used. It is on by default.
pub(super) const INVALIDATE: &str = "invalidate";

/// The setting that is the opposite of `rwmixread`.
pub(super) const WRITES: &str = "rwmixwrite";

/// The difference of a ramp before sequential I/O: fio keeps its place in the file.
pub(super) const AFTER_RAMP: &str =
    "fio continues where the ramp ended; diskperf starts again at the beginning of the file";

/// The same for reads through the page cache.
const CACHED_AFTER_RAMP: &str = "fio continues where the ramp ended; diskperf starts again at the beginning of the \
                                 file, which is then in the page cache";

/// The difference of a ramp (`ramp_time`, `warmup`) before this pattern; `None` for random patterns.
pub fn after_ramp(pattern: PatternName, is_direct: bool) -> Option<&'static str> {
    match pattern {
        PatternName::Read if !is_direct => Some(CACHED_AFTER_RAMP),
        PatternName::Read | PatternName::Write | PatternName::Commit => Some(AFTER_RAMP),
        PatternName::Randread | PatternName::Randwrite | PatternName::Randrw => None,
    }
}

/// True if diskperf writes the file beforehand, and fio does so only with [`OVERWRITE`]. fio always writes it for reads
/// and for the engine mmap (`extend_file` in `filesetup.c`).
pub(super) fn overwrites(load: &LoadSpec) -> bool {
    let writes = matches!(load.pattern, PatternName::Write | PatternName::Randwrite);
    writes && load.has_file() && !matches!(load.engine, Some(Engine::Mmap | Engine::Null))
}

/// The engine with this name. `sqpoll` is `io_uring` with [`POLLS`].
pub(super) fn engine(word: &str, polls: bool) -> Option<Engine> {
    match word {
        "psync" | "sync" | "vsync" | "pvsync" | "pvsync2" => Some(Engine::Posix),
        "io_uring" if polls => Some(Engine::Sqpoll),
        "io_uring" => Some(Engine::Uring),
        "mmap" => Some(Engine::Mmap),
        "null" => Some(Engine::Null),
        _ => None,
    }
}

/// The name of an engine at this queue depth.
pub(super) fn engine_name(engine: Engine, depth: u32) -> &'static str {
    match engine {
        Engine::Auto if depth > 1 => "io_uring",
        Engine::Uring | Engine::Sqpoll => "io_uring",
        Engine::Auto | Engine::Posix => "psync",
        Engine::Mmap => "mmap",
        Engine::Null => "null",
    }
}

/// The pattern with this name. `commit` is a `write` with `fdatasync`.
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
