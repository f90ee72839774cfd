//! `diskperf predict [RUN|FILE] --on DEVICE`: the time of a recorded command on another device.

use std::env;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use campaign::predict::{self, Predicted, Source, foreign};
use campaign::request::{RunRequest, Workload};
use campaign::targets::{TargetArgument, TargetKind};
use clap::Args;
use kernel::PathFault;
use kernel::observe::block_recorder::recorded_device;
use kernel::observe::host::Host;
use kernel::sys::name::Shown;
use machines::{DeviceFile, MachineFault};
use report::devices::predict::{checks_table, prediction_lines};
use stats::figures::summary::median;
use stats::predict::{CheckRecord, PREDICTION_SCHEMA, Prediction, PredictionCheck, PredictionDocument};
use stats::{ClockKind, Document, RunInfo};
use store::{LAST, Store, StoreError};
use units::Exit;

use crate::commands::run;
use crate::documents::document::stored_name;
use crate::documents::inputs;
use crate::documents::store_arguments::{RunStoreArguments, StoreArguments};
use crate::error::{Error, PredictError};
use crate::session::{Call, Stored};
use crate::ui::output::{page, remark};
use crate::ui::output_format::{Format, OutputArguments, RunFormat, json};

/// Arguments of `diskperf predict`.
#[derive(Clone, Debug, Args)]
pub struct PredictArguments {
    /// Stored run with a block trace (its id, the beginning of an id, its name, or last), or a trace file: blkparse
    /// text, MSR CSV or ftrace text [default: last]
    #[arg(value_name = "RUN|FILE", default_value = LAST, hide_default_value = true)]
    run: PathBuf,
    /// Other device: a file of `diskperf probe`, or a shipped one such as ebs-gp3 [default: the run's own device,
    /// with --set].
    #[arg(long, value_name = "DEVICE")]
    on: Option<String>,
    /// Run's own device: a file of `diskperf probe` [default: the law that probe stored for it].
    #[arg(long, value_name = "DEVICE")]
    from: Option<String>,
    /// Change a figure of the other device, as in read_latency=x0.5 or write_cache=none; can be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Run the command on TARGET too, and store the prediction with the measured time. The device rests for 2 s before
    /// each execution.
    #[arg(long, value_name = "TARGET")]
    check: Option<TargetArgument>,
    /// List all checks, and how many were within the stated range.
    #[arg(long, conflicts_with_all = ["on", "from", "set", "check"])]
    record: bool,
    #[command(flatten)]
    output: OutputArguments<Format>,
    #[command(flatten)]
    store: StoreArguments,
}

/// Runs the command.
pub fn run(arguments: &PredictArguments) -> Result<Exit, Error> {
    arguments.output.check()?;
    if arguments.record {
        let checks = arguments.store.to_read()?.map(|store| store.checks()).transpose()?.unwrap_or_default();
        deliver(arguments, Vec::new(), checks)?;
        return Ok(Exit::Done);
    }
    if arguments.on.is_none() && arguments.set.is_empty() {
        return Err(PredictError::NoDevice.into());
    }
    for device in arguments.from.iter().chain(&arguments.on) {
        inputs::will_read_machine(device)?;
    }
    let found = Found::find(arguments)?;
    let host = found.info.as_ref().map(|info| info.host.as_str());
    let (mut predictions, mut refused, mut other) = (Vec::new(), None, None);
    for source in &found.sources {
        let here = own_law(arguments, &found, source)?;
        let there = other_law(arguments, &here)?;
        for device in [&here, &there] {
            foreign(device, host).iter().for_each(|warning| remark(warning));
        }
        let Predicted { prediction, refused: why } = predict::predict(source, &here, &there, &found.checks);
        refused = refused.or(why);
        predictions.push(prediction);
        other = Some(there);
    }
    let (mut checks, mut exit) = (found.checks.clone(), Exit::Done);
    let failed = match refused {
        Some((reason, hint)) => Some(PredictError::Refused(reason, hint)),
        None => {
            if let (Some(target), Some(there)) = (&arguments.check, &other) {
                match check(arguments, &found, target, there, &mut predictions)? {
                    Some(check) => checks.push(check),
                    None => {
                        remark("interrupted; no check was stored");
                        exit = Exit::Interrupted;
                    }
                }
            }
            None
        }
    };
    deliver(arguments, predictions, checks)?;
    failed.map_or(Ok(exit), |error| Err(error.into()))
}

/// Prints the predictions, or the checks if nothing was predicted.
fn deliver(
    arguments: &PredictArguments,
    predictions: Vec<Prediction>,
    checks: Vec<PredictionCheck>,
) -> Result<(), Error> {
    let schema = PREDICTION_SCHEMA.to_owned();
    let document = PredictionDocument { schema, predictions, record: CheckRecord::new(checks) };
    let text = match arguments.output.layout() {
        Format::Json => json(&document),
        Format::Table if arguments.record => checks_table(&document.record, page()),
        Format::Table => prediction_lines(&document),
    };
    arguments.output.deliver(&text)
}

/// The traces to predict from, with their run.
struct Found {
    sources: Vec<Source>,
    /// The description of the stored run; `None` for a trace file.
    info: Option<RunInfo>,
    /// The database, if there is one.
    store: Option<Store>,
    checks: Vec<PredictionCheck>,
}

impl Found {
    /// Finds a stored run, or reads a file.
    fn find(arguments: &PredictArguments) -> Result<Found, Error> {
        let run = &arguments.run;
        let Some(typed) = stored_name(run) else {
            // Without a database, there are no checks.
            let store = arguments.store.to_read().ok().flatten();
            let checks = store.as_ref().map(Store::checks).transpose()?.unwrap_or_default();
            return Ok(Found { sources: vec![trace_file(run)?], info: None, store, checks });
        };
        let unknown = || StoreError::UnknownRun { typed: typed.to_owned(), near: Vec::new() };
        let store = arguments.store.to_read()?.ok_or_else(unknown)?;
        let id = store.find(typed)?;
        let sources = predict::from_run(&store, &id).map_err(PredictError::from)?;
        let (info, checks) = (store.document(&id)?.run, store.checks()?);
        Ok(Found { sources, info: Some(info), store: Some(store), checks })
    }
}

/// Reads a trace file.
fn trace_file(path: &Path) -> Result<Source, Error> {
    let name = path.shown().to_string();
    let metadata = path.metadata().map_err(|_| PathFault::Missing(path.to_owned()))?;
    if !metadata.is_file() {
        return Err(PredictError::NoTraceFile(name).into());
    }
    let unreadable = |source| PathFault::Unreadable { path: path.to_owned(), source };
    inputs::will_read(path)?;
    let file = File::open(path).map_err(unreadable)?;
    Ok(predict::from_trace(&name, BufReader::new(file)).map_err(unreadable)??)
}

/// The law of the run's own device: from the named file, or from the database.
fn own_law(arguments: &PredictArguments, found: &Found, source: &Source) -> Result<DeviceFile, Error> {
    if let Some(from) = &arguments.from {
        let device = DeviceFile::load(from)?;
        other_device(&device, source).iter().for_each(|warning| remark(warning));
        return Ok(device);
    }
    let unknown = || Error::from(PredictError::NoOwnLaw(source.device.clone()));
    let info = found.info.as_ref().ok_or_else(unknown)?;
    let store = found.store.as_ref().ok_or_else(unknown)?;
    let text = store.law(&info.host, &source.device)?.ok_or_else(unknown)?;
    Ok(DeviceFile::read(&text, &format!("the stored law of {}", source.device))?)
}

/// The warning that a file is of another device of this machine than the run; `None` if it is not known to be.
fn other_device(device: &DeviceFile, source: &Source) -> Option<String> {
    let measured = device.measured_on.as_ref().filter(|measured| measured.host == Host::this().name)?;
    let found = recorded_device(Path::new(&measured.target)).filter(|found| found.name != source.device)?;
    Some(format!("{} was measured on {}, and the run on {}", device.name, found.name, source.device))
}

/// The law of the other device, with the settings; without `--on`, that of the own device.
fn other_law(arguments: &PredictArguments, here: &DeviceFile) -> Result<DeviceFile, MachineFault> {
    let mut there = match &arguments.on {
        Some(on) => DeviceFile::load(on)?,
        None => here.clone(),
    };
    arguments.set.iter().try_for_each(|setting| there.set(setting))?;
    if !arguments.set.is_empty() {
        there.name = format!("{} with {}", there.name, arguments.set.join(", "));
    }
    Ok(there)
}

/// The relation of a check's target to the device of the law.
enum CheckedDevice {
    /// It is that device.
    Same,
    /// It may be that device: diskperf cannot tell.
    Unknown(String),
    /// It is another device, for this reason.
    Other(String),
}

impl CheckedDevice {
    /// Compares the devices of the law and of the target. Settings (`is_set`) make a law of another device.
    fn of(there: &DeviceFile, is_set: bool, path: &Path) -> CheckedDevice {
        let found = recorded_device(path).map_or_else(|| "no visible device".to_owned(), |device| device.name);
        let measured = there.measured_on.as_ref().filter(|measured| measured.host == Host::this().name);
        let of_law = measured.and_then(|measured| recorded_device(Path::new(&measured.target)));
        match of_law {
            Some(of_law) if is_set => CheckedDevice::Unknown(format!(
                "the law is that of {} with settings; diskperf cannot tell whether {found} is such a device; the check \
                 counts",
                of_law.name
            )),
            Some(of_law) if of_law.name == found => CheckedDevice::Same,
            Some(of_law) => {
                CheckedDevice::Other(format!("it ran on {found}, and the law was measured on {}", of_law.name))
            }
            None => CheckedDevice::Unknown(format!(
                "diskperf cannot tell whether {found} is the device of {}; the check counts",
                there.name
            )),
        }
    }
}

/// Runs the command of the run on the target, and stores the prediction with the measured time. `None` if a signal
/// stopped the run: nothing is stored then.
fn check(
    arguments: &PredictArguments,
    found: &Found,
    target: &TargetArgument,
    there: &DeviceFile,
    predictions: &mut [Prediction],
) -> Result<Option<PredictionCheck>, Error> {
    let count = predictions.len();
    let [prediction] = predictions else {
        return Err(PredictError::Several { run: arguments.run.shown().to_string(), count }.into());
    };
    let (Some(info), Some(store)) = (&found.info, &found.store) else {
        return Err(PredictError::NothingToRun(prediction.run.clone()).into());
    };
    if let TargetKind::Directory(path) = &target.kind
        && let Some(measured) = recorded_device(path).filter(|device| device.name == found.sources[0].device)
        && info.host == Host::this().name
        && arguments.on.is_some()
    {
        remark(&format!("the target of the check is on {}, the run's own device", measured.name));
    }
    let mut elsewhere = None;
    if let TargetKind::Directory(path) = &target.kind {
        match CheckedDevice::of(there, !arguments.set.is_empty(), path) {
            CheckedDevice::Same => {}
            CheckedDevice::Unknown(warning) => remark(&warning),
            CheckedDevice::Other(reason) => {
                remark(&format!("the check does not count for ranges: {reason}"));
                elsewhere = Some(reason);
            }
        }
    }
    let left = store.left(&prediction.run)?;
    let stored = left.request.as_deref().and_then(Stored::of_text);
    let request = stored.map(|stored| stored.request).filter(|one| matches!(one.workload, Workload::Command(_)));
    let request = request.ok_or_else(|| PredictError::NothingToRun(prediction.run.clone()))?;
    let request = RunRequest { targets: vec![target.absolute()], record: false, rest: true, ..request };
    let words: Vec<_> = env::args_os().collect();
    let keep = RunStoreArguments::of(arguments.store.absolute());
    let output = OutputArguments::<RunFormat>::default().output();
    let call = Call { words: &words, store: &keep, output, dry_run: false, live: false };
    // Relative paths of the command are those of the folder where it was recorded; all others are those of this one.
    let here = env::current_dir().map_err(|_| PathFault::Missing(PathBuf::from(".")))?;
    env::set_current_dir(&left.folder).map_err(|_| PathFault::Missing(left.folder.clone()))?;
    let document = request.resolve().map_err(Error::from).and_then(|resolved| {
        let (document, ended) = run::measured(&resolved, &call);
        ended.map(|()| document)
    });
    env::set_current_dir(&here).map_err(|_| PathFault::Missing(here.clone()))?;
    let document = document?;
    let not_measured = || PredictError::NotMeasured(target.typed.clone());
    let measured_s = match measured_seconds(&document) {
        None if document.run.interrupted => return Ok(None),
        measured => measured.ok_or_else(not_measured)?,
    };
    prediction.measured_s = Some(measured_s);
    let check = PredictionCheck {
        run: prediction.run.clone(),
        measured_run: document.run.store.map(|store| store.run).unwrap_or_default(),
        made_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
        program: prediction.program.clone(),
        target: target.typed.clone(),
        device: prediction.device.clone(),
        here_s: prediction.here_s,
        predicted_s: prediction.predicted_s.ok_or_else(not_measured)?,
        low_s: prediction.low_s,
        high_s: prediction.high_s,
        measured_s,
        elsewhere,
    };
    let data = serde_json::to_string(&check).expect("plain data");
    let to_write = arguments.store.to_write()?;
    if let Some(mut store) = to_write {
        store.add_check((&check.run, &check.measured_run), check.made_unix_s, &data)?;
    }
    Ok(Some(check))
}

/// The median time of the rounds that count, until durable. `None` if a signal stopped the run, because rounds are
/// missing then.
fn measured_seconds(document: &Document) -> Option<f64> {
    let cell = document.cells.iter().find(|cell| cell.measured && !document.run.interrupted)?;
    let all: Vec<f64> = cell.kept().map(|round| round.elapsed_s(ClockKind::Durable)).collect();
    median(&all).filter(|seconds| *seconds > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_run_has_no_measured_time() {
        let text = include_str!("../../../../docs/quick.json");
        let mut document: Document = serde_json::from_str(text).expect("a document");
        assert!(measured_seconds(&document).is_some_and(|seconds| seconds > 0.0));
        document.run.interrupted = true;
        assert_eq!(measured_seconds(&document), None);
    }
}
