//! `diskperf probe TARGET`: measures the constants of a device, and writes them as a device's file.

use std::path::{self, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use campaign::error::CampaignError;
use campaign::probe::target::ProbeTarget;
use campaign::probe::{Findings, Player, RecordedFile, Settings, Step, device_file, probe, rows};
use campaign::signals::Stop;
use campaign::targets::TargetArgument;
use clap::Args;
use kernel::TapeFault;
use kernel::observe::block_recorder::{NotRecorded, recorded_device};
use kernel::observe::host::Host;
use kernel::sys::name::Shown;
use machines::{DeviceFile, Machine, MachineFault, MeasuredOn};
use report::sanitize;
use simulator::{Chance, LawDevice, RawDrive};
use stats::probe::latency::Times;
use stats::probe::{PROBE_SCHEMA, ProbeDocument, Row};
use units::{Bytes, DateTime, Exit};
use workload::TapeKind;

use crate::documents::inputs;
use crate::documents::store_arguments::KeepArguments;
use crate::error::Error;
use crate::ui::consent::{self, YesArguments};
use crate::ui::output;
use crate::ui::output_format::json;
use crate::ui::status_line::StatusLine;

/// Drives of a simulated machine: the first one is probed.
const DRIVES: u32 = 1;

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  sudo diskperf probe /dev/sdb -o sdb.toml     a device, which is only read
  sudo diskperf probe /mnt/disk -o disk.toml   a file of our own there: reads, writes, flushes
  diskperf probe sim:ebs-gp3                   a simulated volume: its published constants come back
  diskperf probe sim:vax780-sc780              a disk of 1983: 3,961 turns/min, 48 sectors per track

The table has the bracket of each constant and its number of samples. A constant that the probe cannot \
    tell is n.m., with the reason: for example, a bucket that did not run empty within seconds.")]
pub struct ProbeArguments {
    /// Block device or file, which is only read; directory, or file to create, for writes, too; or sim:NAME, a
    /// simulated machine or device
    #[arg(value_name = "TARGET")]
    target: TargetArgument,
    /// Write the constants to FILE, a device's file for `diskperf predict`; - means standard output.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the constants as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: YesArguments,
    #[command(flatten)]
    keep: KeepArguments,
}

pub fn run(arguments: &ProbeArguments) -> Result<Exit, Error> {
    output::check(arguments.output.as_deref())?;
    let name = &arguments.target.typed;
    inputs::will_measure(&arguments.target)?;
    let target = ProbeTarget::resolve(&arguments.target)?;
    if let ProbeTarget::Write { directory, place, .. } = &target {
        consent::ask_place(arguments.place.yes, directory, place)?;
    }
    let stop = Stop::on_signals()?;
    let line = StatusLine::new();
    let probed = findings(&target, &stop, &line);
    line.clear();
    let (findings, measured_on) = match probed {
        // With --json, the error becomes the document.
        Err(Error::Campaign(CampaignError::Tape(TapeFault::Stopped))) if !arguments.json => {
            output::remark("interrupted; nothing is left behind");
            return Ok(Exit::Interrupted);
        }
        probed => probed?,
    };
    let rows = rows(&findings);
    if arguments.output.as_deref() != Some(Path::new("-")) {
        output::print(&text(arguments, name, &rows))?;
    }
    let file = device_file(name, &findings, measured_on);
    let exit = match (&arguments.output, &file) {
        (Some(path), Ok(file)) => output::deliver(&file.to_toml(), Some(path)).map(|()| Exit::Done)?,
        // Not an error, because that would be a second document on standard output with --json.
        (Some(path), Err(why)) => {
            output::remark(&format!("{} is not written: {why}", path.shown()));
            Exit::Failed
        }
        (None, _) => Exit::Done,
    };
    match (&file, real_path(&target)) {
        (Ok(file), Some(path)) => store_law(&arguments.keep, path, file)?,
        // With -o, diskperf has already printed the reason.
        (Err(why), Some(_)) if arguments.output.is_none() => output::remark(&format!("no law is stored: {why}")),
        _ => {}
    }
    Ok(exit)
}

/// The path of a target that is not simulated.
fn real_path(target: &ProbeTarget) -> Option<&Path> {
    match target {
        ProbeTarget::Simulated(_) => None,
        ProbeTarget::Read { path, .. } => Some(path),
        ProbeTarget::Write { directory, .. } => Some(directory),
    }
}

/// Stores the law of the device below the path, so that `predict` finds it for runs on this device.
fn store_law(keep: &KeepArguments, path: &Path, file: &DeviceFile) -> Result<(), Error> {
    let Some(device) = recorded_device(path) else { return Ok(()) };
    let Some(mut store) = keep.to_write()? else { return Ok(()) };
    let host = Host::this().name;
    let stored = store.law(&host, &device.name)?.and_then(|text| DeviceFile::read(&text, "the stored law").ok());
    if stored.is_some_and(|stored| stored.law().write_latency.is_some()) && file.law().write_latency.is_none() {
        output::remark(&format!("the stored law of {} is kept, because it has writes; this one has none", device.name));
        return Ok(());
    }
    store.put_law((&host, &device.name), unix_seconds(), &file.to_toml())?;
    output::remark(&format!("stored as the law of {}, for `diskperf predict`", device.name));
    Ok(())
}

/// Seconds since 1970.
fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

fn text(arguments: &ProbeArguments, name: &str, rows: &[Row]) -> String {
    match arguments.json {
        true => json(&ProbeDocument { schema: PROBE_SCHEMA, target: name.to_owned(), constants: rows.to_vec() }),
        false => report::devices::probe::table(name, rows, output::page()),
    }
}

/// Probes the target. Returns also where it was measured.
fn findings(target: &ProbeTarget, stop: &Stop, line: &StatusLine) -> Result<(Findings, Option<MeasuredOn>), Error> {
    let real = |target: &Path| Some(measured_on(target));
    match target {
        ProbeTarget::Simulated(name) => Ok((of_simulation(name, line)?, None)),
        ProbeTarget::Read { path, storage } => {
            output::remark(&format!("reads {}", path.shown()));
            let mut file = ProbeTarget::open(path, storage, stop)?;
            Ok((play_real(&mut file, Settings::REAL, line)?, real(path)))
        }
        ProbeTarget::Write { directory, bytes, .. } => {
            let size = Bytes(*bytes);
            output::remark(&format!("writes a file of {size} in {}; Ctrl-C leaves nothing behind", directory.shown()));
            let mut progress = |written: u64| line.say(&format!("writing the file, {} of {size}", Bytes(written)));
            let mut file = ProbeTarget::create(directory, *bytes, stop, &mut progress)?;
            Ok((play_real(&mut file, Settings { writes: true, ..Settings::REAL }, line)?, real(directory)))
        }
    }
}

/// Probes a real device. Tells the user if the latencies are not those of the device alone.
fn play_real(file: &mut RecordedFile, settings: Settings, line: &StatusLine) -> Result<Findings, Error> {
    let findings = play(file, settings, line)?;
    let is_measured = findings.reads.latency.iter().chain(&findings.writes.latency).any(|(_, latency)| latency.is_ok());
    if findings.latency_times == Times::OfProgram && is_measured {
        let too_few = "the block trace shows too few requests of the probe, or their times spread too widely";
        let why = file.not_recorded().map_or_else(|| too_few.to_owned(), ToString::to_string);
        let is_tracer = matches!(file.not_recorded(), Some(NotRecorded::NoTracer(_)));
        let hint = if is_tracer { "; run diskperf as root, on a kernel with tracefs" } else { "" };
        line.clear();
        output::remark(&format!("the latencies include the kernel's I/O path: {why}{hint}"));
    }
    Ok(findings)
}

/// Probes a simulated device, or the first drive of a simulated machine.
fn of_simulation(name: &str, line: &StatusLine) -> Result<Findings, Error> {
    let known = match DeviceFile::load(name) {
        Ok(file) => {
            let law = file.law();
            let settings = Settings { writes: law.write_latency.is_some(), ..Settings::SIMULATED };
            return play(&mut LawDevice::new(law), settings, line);
        }
        Err(MachineFault::UnknownDevice { known, .. }) => known,
        Err(fault) => return Err(fault.into()),
    };
    let machine = Machine::load(name).map_err(|fault| match fault {
        MachineFault::UnknownMachine { name, known: machines } => {
            MachineFault::UnknownMachine { name, known: machines.into_iter().chain(known).collect() }
        }
        fault => fault,
    })?;
    let mut description = machine.describe(DRIVES, 0)?;
    // The constants of the drive, not those of the processor.
    description.kernel.jitter_permille = 0;
    let mut drive = RawDrive::new(&description, Chance::default()).map_err(CampaignError::from)?;
    play(&mut drive, Settings { writes: false, ..Settings::SIMULATED }, line)
}

fn play<P: Player>(player: &mut P, settings: Settings, line: &StatusLine) -> Result<Findings, Error>
where
    CampaignError: From<P::Fault>,
{
    let findings = probe(player, settings, &mut |step| line.say(&words(step)));
    Ok(findings.map_err(CampaignError::from)?)
}

/// The step in words.
fn words(step: Step) -> String {
    match step {
        Step::Latency => "latency at queue depth 1".to_owned(),
        Step::Rotation => "rotation".to_owned(),
        Step::Tracks => "sectors per track".to_owned(),
        Step::Seeks => "seeks".to_owned(),
        Step::Depth(kind, bytes) => {
            let kind = if kind == TapeKind::Write { "writes" } else { "reads" };
            format!("{kind} of {} at queue depth 32", Bytes(bytes.into()))
        }
        Step::Refill => "refill of the bucket".to_owned(),
        Step::Stripes => "page and channels".to_owned(),
        Step::Flush => "flushes".to_owned(),
        Step::WriteCache => "write cache".to_owned(),
    }
}

/// Where and when a real device is measured. The path is absolute, because `predict` may run in another folder.
fn measured_on(target: &Path) -> MeasuredOn {
    let host = Host::this();
    let target = path::absolute(target).unwrap_or_else(|_| target.to_owned());
    let DateTime { year, month, day, .. } = DateTime::from_unix(unix_seconds());
    let date = format!("{year:04}-{month:02}-{day:02}");
    MeasuredOn { host: sanitize::line(&host.name).into_owned(), date, target: target.shown().into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_in_a_device_file_is_absolute() {
        let target = PathBuf::from(measured_on(Path::new("some")).target);
        assert!(target.is_absolute() && target.ends_with("some"), "{target:?}");
        assert_eq!(measured_on(Path::new("/dev/vdb")).target, "/dev/vdb");
    }
}
