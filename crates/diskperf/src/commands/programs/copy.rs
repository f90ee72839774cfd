//! `diskperf copy OLD NEW`: the calls of TLPI listing 4-1 on two files, and nothing else. Prints nothing on standard
//! output, as the original; and one line of figures on standard error. Every call is checked.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use campaign::error::CampaignError;
use campaign::signals::Stop;
use clap::{Args, ValueEnum};
use kernel::guard::Given;
use kernel::observe::mount::Place;
use kernel::sys::name::Shown;
use kernel::{PathFault, Posix, free_on, message};
use stats::figures::execution_times::SPLIT_NEEDS_S;
use units::{Bytes, Exit, Nanos, per_second};
use workload::programs::tlpi::{self, Sync};
use workload::{Failure, Name, Op, OpKind, Reason, Span, Tally, World};

use crate::documents::user_files;
use crate::error::{Error, ProgramError};
use crate::ui::output;

/// The largest buffer: two of them are in memory.
const LARGEST_BUFFER: Bytes = Bytes::mib(256);

#[derive(Clone, Debug, Args)]
pub struct CopyArguments {
    /// File to read; it must not change during the copy
    old: OsString,
    /// File to create, or to empty and write; never a device, never OLD
    new: OsString,
    /// Buffer size: bytes of each read and write, as in 1, 4096, 64KiB (65536 bytes) or 64kB (64000 bytes); at most
    /// 256MiB. In the listing, this is BUF_SIZE.
    #[arg(long, value_name = "SIZE", default_value = "1024", allow_negative_numbers = true,
          value_parser = parse_buffer)]
    buffer: u32,
    /// Syncs during the copy.
    #[arg(long, value_enum, default_value = "none")]
    sync: SyncWord,
}

/// Syncs during the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SyncWord {
    /// No sync, as in the listing
    None,
    /// NEW is opened with O_SYNC: data and all metadata, at every write
    Osync,
    /// NEW is opened with O_DSYNC: data and the metadata needed to read them, at every write
    Dsync,
    /// One fsync after the last write
    Fsync,
}

impl From<SyncWord> for Sync {
    fn from(word: SyncWord) -> Sync {
        match word {
            SyncWord::None => Sync::None,
            SyncWord::Osync => Sync::Osync,
            SyncWord::Dsync => Sync::Dsync,
            SyncWord::Fsync => Sync::Fsync,
        }
    }
}

fn parse_buffer(text: &str) -> Result<u32, String> {
    let bytes: Bytes = text.parse().map_err(|error: units::ParseBytesError| error.to_string())?;
    if bytes > LARGEST_BUFFER {
        return Err(format!("a buffer may hold {LARGEST_BUFFER} at most"));
    }
    Ok(bytes.0 as u32)
}

/// A copy that passed the checks.
struct Copying {
    old: PathBuf,
    new: PathBuf,
    bytes: u64,
    /// True if NEW did not exist before, so that it is ours to remove.
    is_made: bool,
}

pub fn run(arguments: &CopyArguments) -> Result<Exit, Error> {
    let (copying, target) = check(Path::new(&arguments.old), Path::new(&arguments.new))?;
    let stop = Stop::on_signals()?;
    let given = vec![Given::Read(copying.old.clone()), target];
    let mut world = Posix::on_given(given, arguments.buffer, stop.flag())?;
    world.heed_holding(stop.held());
    let (old, new) = (Name::given(0), Name::given(1));
    let steps = tlpi::copy_whole(old, new, arguments.buffer, copying.bytes, arguments.sync.into());
    let mut tally = Tally::default();
    let span = world.run(&mut [steps], std::slice::from_mut(&mut tally))?.swap_remove(0);
    match tally.failure {
        None => {
            output::remark(&figures(copying.bytes, &span));
            if world.was_suspended() {
                output::remark("a signal paused the copy; the pause is part of that time");
            }
            Ok(Exit::Done)
        }
        Some(failure) => give_up(copying, failure, &tally, &world),
    }
}

/// Checks what the original does not check, before anything is touched:
///   1. OLD is a regular file, whose size is known;
///   2. NEW is a regular file without a loop device on it, and is not OLD under another name. It is opened as it was
///      found, wherever its name leads by then;
///   3. there is room for the copy, counting the space that an old NEW frees.
fn check(old: &Path, new: &Path) -> Result<(Copying, Given), Error> {
    // 1.
    let source = user_files::existing(old)?;
    regular(old, &source)?;
    // 2.
    let found = user_files::writable(new)?;
    let target = found.as_ref().map(|found| found.metadata()).transpose();
    let target = target.map_err(|source| PathFault::Unreadable { path: new.to_owned(), source })?;
    if target.as_ref().is_some_and(|target| (source.dev(), source.ino()) == (target.dev(), target.ino())) {
        return Err(ProgramError::SameFile { old: old.to_owned(), new: new.to_owned() }.into());
    }
    // 3.
    let bytes = source.len();
    let folder = match new.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let given_back = target.as_ref().map_or(0, |target| target.blocks() * 512);
    let place = Place::under(folder).map_err(|source| PathFault::Unreadable { path: folder.to_owned(), source })?;
    let free = free_on(&place).map(|free| free + given_back);
    if let Some(free) = free.filter(|free| *free < bytes) {
        return Err(PathFault::NoRoom { path: folder.to_owned(), free: Bytes(free), needed: Bytes(bytes) }.into());
    }
    let copying = Copying { old: old.to_owned(), new: new.to_owned(), bytes, is_made: target.is_none() };
    Ok((copying, found.map_or_else(|| Given::Create(new.to_owned()), Given::Write)))
}

fn regular(path: &Path, metadata: &Metadata) -> Result<(), Error> {
    if metadata.is_dir() {
        return Err(PathFault::IsADirectory(path.to_owned()).into());
    }
    if metadata.is_file() { Ok(()) } else { Err(PathFault::NotAFile(path.to_owned()).into()) }
}

/// Handles a failure or Ctrl-C: removes an unfinished copy that did not exist before, if its name still leads to it.
fn give_up(copying: Copying, failure: Failure, tally: &Tally, world: &Posix) -> Result<Exit, Error> {
    let Copying { old, new, bytes, is_made } = copying;
    let was_opened = tally.count(OpKind::Create) > 0;
    let left = match (was_opened, is_made) {
        (false, _) => format!("{} was not touched", new.shown()),
        (true, true) if !world.has_open(tlpi::NEW, &new) => {
            format!("{} was not removed: it may not be the copy", new.shown())
        }
        (true, true) => match fs::remove_file(&new) {
            Ok(()) => format!("removed the unfinished {}", new.shown()),
            Err(error) => format!("cannot remove the unfinished {}: {}", new.shown(), message(&error)),
        },
        (true, false) => format!("{} is incomplete; its previous content is gone", new.shown()),
    };
    if failure.reason == Reason::Interrupted {
        output::remark(&format!("interrupted after {} of {bytes} bytes; {left}", tally.bytes_written));
        return Ok(Exit::Interrupted);
    }
    output::remark(&left);
    Err(match (failure.reason, failure.op) {
        (Reason::Short(_), op) if op.kind() == OpKind::Read => {
            ProgramError::Changed { path: old, bytes: Bytes(bytes) }.into()
        }
        (_, Op::Open { .. } | Op::Read { .. } | Op::ReadTail { .. } | Op::Close { handle: tlpi::OLD }) => {
            CampaignError::Op { path: old, failure }.into()
        }
        _ => CampaignError::Op { path: new, failure }.into(),
    })
}

/// `100000000 bytes in 2.05 s, 48.8 MB/s; CPU 375 ms, of which user 10.0 ms and system 365 ms`
fn figures<C>(bytes: u64, span: &Span<C>) -> String {
    let (elapsed, cpu) = (span.elapsed(), span.cpu);
    let rate = per_second(bytes, elapsed).unwrap_or(0.0);
    let split = if cpu.total.as_secs_f64() >= SPLIT_NEEDS_S {
        format!("of which user {} and system {}", cpu.user, cpu.system())
    } else {
        format!("too short to tell user from system (below {})", Nanos((SPLIT_NEEDS_S * 1e9) as u64))
    };
    format!(
        "{bytes} bytes in {elapsed}, {} MB/s; CPU {}, {split}",
        stats::digits::significant(rate / 1e6, 3),
        cpu.total
    )
}
