//! The command line: commands, options, and the help that teaches them.

pub mod aging;
pub mod completion_words;
mod default_command;
pub mod examples;
mod fio_words;
pub mod floor;
pub mod help_search;
pub mod hosts;
mod json_errors;
pub mod mix;
mod operands;
mod other_programs;
pub mod own_command;
pub mod own_load;
pub mod own_sweep;
#[cfg(test)]
mod request_tests;
pub mod run;
pub mod simulate;
pub mod sustained;
pub mod values;

use std::ffi::OsString;

use campaign::presets;
use campaign::request::RunRequest;
use campaign::request::resolved::Resolved;
use clap::{CommandFactory, Parser, Subcommand};
use kernel::sys::name::Shown;
use report::sanitize;
use units::Exit;
use workload::programs::classic1983::Classic;

use crate::commands;
use crate::commands::choose::ChooseArguments;
use crate::commands::clean::CleanArguments;
use crate::commands::completions::CompletionsArguments;
use crate::commands::doctor::DoctorArguments;
use crate::commands::import::ImportArguments;
use crate::commands::io::IoArguments;
use crate::commands::man::ManArguments;
use crate::commands::paper::PaperArguments;
use crate::commands::predict::PredictArguments;
use crate::commands::probe::ProbeArguments;
use crate::commands::programs::bw::BwArguments;
use crate::commands::programs::copy::CopyArguments;
use crate::commands::programs::largefb::LargefbArguments;
use crate::commands::programs::smallfb::SmallfbArguments;
use crate::commands::proof::ProofArguments;
use crate::commands::results::compare::CompareArguments;
use crate::commands::results::delete::DeleteArguments;
use crate::commands::results::explain::ExplainArguments;
use crate::commands::results::export::ExportArguments;
use crate::commands::results::history::HistoryArguments;
use crate::commands::results::list::ListArguments;
use crate::commands::results::report::ReportArguments;
use crate::commands::results::show::ShowArguments;
use crate::commands::resume::ResumeArguments;
use crate::commands::verify::VerifyArguments;
use crate::documents::store_arguments::RunStoreArguments;
use crate::error::Error;
use crate::session::Call;
use crate::ui::output;
use crate::ui::output_format::{OutputArguments, RunFormat};
use crate::ui::shell;

use default_command::Misread;
use examples::*;
use run::RunArguments;
use simulate::SimulateArguments;
use values::DocumentKind;

/// Benchmark and compare storage setups: how fast, how sure, and why
///
/// Without a command, diskperf measures each TARGET, or the current directory: `diskperf PATH` means `diskperf run
/// quick PATH` and takes the same options. The name of a command is never a path: write ./run for the directory run.
#[derive(Debug, Parser)]
#[command(
    name = "diskperf",
    bin_name = "diskperf",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    override_usage = "diskperf [OPTIONS] [TARGET]...\n       diskperf COMMAND",
    args_conflicts_with_subcommands = true
)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    keep: RunStoreArguments,
    #[command(flatten)]
    output: OutputArguments<RunFormat>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a preset, a job file or your own command on one or more targets, and print a table.
    ///
    /// Every round runs each test once on each target, in random order. The table shows the mean of the rounds with its
    /// 95 % confidence interval, the bottleneck of each test, and warnings about figures that you should not trust.
    ///
    /// To measure a command of your own, write it after two dashes, without a preset: diskperf run TARGET... -- COMMAND
    ///
    /// Writes: test files in a private folder of each target, which it removes; the result, in the results database.
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<RunArguments>),
    /// Measure one workload of your own: pattern, block size, queue depth, rate.
    ///
    /// Every round creates a file in a private folder, runs the workload on it for --time, and removes it. For writes,
    /// the time includes the final sync.
    ///
    /// --bs, --iodepth, --jobs, --rate, --reads, --fsync and --fdatasync take several values: 1..128*2 doubles,
    /// 10..100+10 adds, 1,4 is a list. Each combination is a row of one run, and every round runs each row once, in
    /// random order.
    ///
    /// Writes: the file, in a private folder of each target; the result, in the results database.
    #[command(after_help = IO_EXAMPLES)]
    Io(IoArguments),
    /// Compare targets: which is faster, by how much, how sure, and why.
    ///
    /// Every round runs each test once on each target, in random order. Rounds continue, at least six, until every
    /// interval is narrow enough or the budget is spent. For each test, diskperf prints the faster target and the ratio
    /// with its 95 % interval; or that the targets are the same within --margin; or that the test is undecided.
    ///
    /// The intervals are Student t intervals of the rounds' ratios, corrected for the number of comparisons (Holm):
    /// about 5 runs in 100 report any false difference.
    ///
    /// diskperf compares every two targets; with --stages, each stage with the one before it, and the last with the
    /// first.
    ///
    /// Writes: test files in a private folder of each target, which it removes; the result, in the results database.
    #[command(after_help = CHOOSE_EXAMPLES)]
    Choose(Box<ChooseArguments>),
    /// Read 8 MiB of FILE in calls of 8192 bytes, as in 1983; prints nothing, meant for `time`.
    ///
    /// One of the four programs of Kridle & McKusick 1983. It makes only the calls of the original, and checks each.
    ///
    /// Writes: nothing.
    #[command(name = "read_8192", after_help = READ_8192_EXAMPLE)]
    Read8192 {
        /// File to read, of at least 8 MiB
        file: OsString,
    },
    /// Write 8 MiB to a new or emptied FILE in calls of 4096 bytes, as in 1983.
    ///
    /// One of the four programs of Kridle & McKusick 1983. It makes only the calls of the original, and checks each. It
    /// does not sync, and prints nothing.
    ///
    /// Writes: FILE, whose old content is lost.
    #[command(name = "write_4096", after_help = WRITE_4096_EXAMPLE)]
    Write4096 {
        /// File to create, or to empty and write
        file: OsString,
    },
    /// Write 8 MiB to a new or emptied FILE in calls of 8192 bytes, as in 1983.
    ///
    /// One of the four programs of Kridle & McKusick 1983. It makes only the calls of the original, and checks each. It
    /// does not sync, and prints nothing.
    ///
    /// Writes: FILE, whose old content is lost.
    #[command(name = "write_8192", after_help = WRITE_8192_EXAMPLE)]
    Write8192 {
        /// File to create, or to empty and write
        file: OsString,
    },
    /// Overwrite the first 8 MiB of FILE in calls of 8192 bytes, as in 1983.
    ///
    /// One of the four programs of Kridle & McKusick 1983. It makes only the calls of the original, and checks each. It
    /// does not sync, and prints nothing.
    ///
    /// Writes: the first 8 MiB of FILE, whose old content is lost.
    #[command(name = "rewrite_8192", after_help = REWRITE_8192_EXAMPLE)]
    Rewrite8192 {
        /// File to overwrite, of at least 8 MiB
        file: OsString,
    },
    /// Copy OLD to NEW through a buffer of any size, and print the cost.
    ///
    /// This is the program of table 13-1 of Kerrisk, The Linux Programming Interface, 2010 (listing 4-1). It opens OLD,
    /// creates or empties NEW, and reads and writes one buffer at a time. It prints bytes, time, CPU time and rate
    /// (MB/s, a million bytes per second) on standard error. `diskperf run tlpi` measures all buffer sizes of the
    /// table.
    ///
    /// Writes: NEW, whose old content is lost.
    #[command(after_help = COPY_EXAMPLES)]
    Copy(CopyArguments),
    /// Time raw reads of DEVICE, a block device or a file: their rate (-b) or their latency (-l).
    ///
    /// This is a program of a course lab of about 2002; it prints the lab's lines word for word. It opens DEVICE for
    /// reading only, and bypasses the page cache (O_DIRECT) if DEVICE allows it.
    ///
    /// -b reads N MB from the beginning, in calls of 1 MiB. A MB is 2^20 bytes; the lab does not say. -l reads N random
    /// blocks, one after the other. A block is a logical block of the device, mostly 512 bytes; for a file, the
    /// smallest size that O_DIRECT allows. Blocks that were never written, or that a cache below this system holds,
    /// return faster than a disk can read.
    ///
    /// Without N, it runs the lab's whole series: 64 128 256 512 768 MB, or 128 to 8192 reads, doubling. It then prints
    /// the median and the spread of the series on standard error. The lab quoted the best of the series, which
    /// misleads.
    ///
    /// Writes: nothing.
    Bw(BwArguments),
    /// Create N files of SIZE bytes here, read them, delete them: files per second.
    ///
    /// This is the small-file benchmark of a course lab of about 2002; it prints the lab's lines word for word. It
    /// descends from figure 8 of Rosenblum & Ousterhout 1991, with 10000 files of one kilobyte. It runs once.
    ///
    /// The rates of `creat` and `delete` are durable: the time includes the sync of every directory and of the file
    /// system. Standard error adds the rate until the last call returned, how much the device had written by then, and
    /// how much of the data did not come from the device.
    ///
    /// Writes: the files, in a private folder of the current directory, which it removes.
    Smallfb(SmallfbArguments),
    /// Write and read a file of MB megabytes here, sequentially and randomly: KB per second.
    ///
    /// This is the large-file benchmark of a course lab of about 2002; it prints the lab's lines word for word. It
    /// descends from figure 9 of Rosenblum & Ousterhout 1991. Five phases, each in calls of 4096 bytes: sequential
    /// write, sequential read, random write, random read, sequential read again. It runs once.
    ///
    /// The MB of the argument is 2^20 bytes, the KB of KB/sec is 1000 bytes, as in the lab. The rates of writes are
    /// durable: the time includes the sync of the file, of its directory and of the file system. Standard error adds
    /// the rate until the last call returned, how much the device had written by then, and how much of the data did not
    /// come from the device.
    ///
    /// Writes: the file, in a private folder of the current directory, which it removes.
    Largefb(LargefbArguments),
    /// Show where the time of each test went, and its bottleneck.
    ///
    /// Reads a stored run or a result file. For each result, measured or simulated, it divides the elapsed time of all
    /// rounds into parts: user CPU, system CPU, device, flush and so on. The parts add up to the elapsed time; the last
    /// part is the time that no counter explains. CPU times are exact. Waiting times come from counters of the device
    /// and of the machine.
    ///
    /// `diskperf help breakdown` explains each part, `diskperf help bottlenecks` each bottleneck.
    ///
    /// Writes: FILE, if you give --output; otherwise nothing.
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArguments),
    /// List the stored runs, the latest last.
    ///
    /// Prints the id of each run, when it began, its preset and targets, and whether it finished. Other commands take
    /// the id, the beginning of an id, a name, or `last`.
    ///
    /// Writes: FILE, if you give --output; otherwise nothing.
    #[command(after_help = LIST_EXAMPLES)]
    List(ListArguments),
    /// Print the table of a stored run or of a result file again.
    ///
    /// Prints the same table as when the run was measured, in any format.
    ///
    /// Writes: FILE, if you give --output; otherwise nothing.
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArguments),
    /// Make an HTML page of stored runs: the verdict, charts, tables and warnings in one file.
    ///
    /// The page needs no network and no scripts. Its last part is the run's JSON, which you can save from the browser.
    /// For a large run, that part leaves out the rounds, to keep the page below 300 KB.
    ///
    /// Writes: the page to FILE (--output) or to standard output; charts to FOLDER (--svg).
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArguments),
    /// Compare two runs: faster and slower tests, and changes of the machine.
    ///
    /// Two results are matched if preset, test, phase and settings agree. If each run has one target, the targets are
    /// matched whatever their names; otherwise by name. Each result is faster, slower, the same within --margin, or
    /// undecided. A verdict needs at least five rounds of each run. The intervals are Welch t intervals of log rates,
    /// corrected for the number of comparisons (Holm): about 5 comparisons of runs in 100 report any false difference.
    ///
    /// Whatever changed on the machine between the two runs affects every ratio. If you can measure both setups now,
    /// use `choose`, which measures them in turns.
    ///
    /// --fail-if slower:5% ends with exit status 5 if a result is slower: the interval excludes 1, and the ratio is at
    /// most 0.95. It also fails if a result is missing from the new run or cannot be checked. The reasons are: too few
    /// rounds, an interrupted run, a warning that its rate is false, and a different amount of work. Undecided results
    /// are listed and do not fail.
    ///
    /// Writes: FILE, if you give --output; otherwise nothing.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArguments),
    /// Show how the rate of a test changed over all stored runs.
    ///
    /// Prints one line per run, the oldest first, with the settings that changed since the run before. Each run is
    /// compared with the one before it, as `compare` does, but without correction for many tests: 5 of 100 steps
    /// without a change may look like one.
    ///
    /// Writes: FILE, if you give --output; otherwise nothing.
    #[command(after_help = HISTORY_EXAMPLES)]
    History(HistoryArguments),
    /// Finish a run that was interrupted or killed.
    ///
    /// Keeps finished results and repeats failed ones. Only the same diskperf can resume a run, on the same machine, or
    /// on the same hosts, started by diskperf-mpi. A run that spent its budget is finished.
    ///
    /// Writes: as the run itself did.
    #[command(after_help = RESUME_EXAMPLES)]
    Resume(ResumeArguments),
    /// Delete stored runs from the results database.
    ///
    /// If a RUN is unknown or still running, diskperf deletes nothing. Deleted data are overwritten, and the database
    /// shrinks, unless another run is writing to it.
    ///
    /// Writes: the results database.
    Delete(DeleteArguments),
    /// Remove leftovers of runs that were killed or used --keep.
    ///
    /// Leftovers are private folders in directories, kept images, file systems on devices, and block-queue settings
    /// that were not restored. diskperf recognises them by tags that it wrote. It never touches those of a running
    /// diskperf. A cleaned device can be used again without --destroy-data. After a reboot, diskperf no longer
    /// recognises file systems on devices.
    ///
    /// Folders, images and half-made file systems without a tag are listed too. diskperf removes them only after you
    /// say yes on a terminal; --yes is not enough.
    ///
    /// Writes: removes leftovers, after it asked; nothing with --dry-run.
    Clean(CleanArguments),
    /// Export stored runs as JSON, CSV or Markdown, or their workloads as a fio job.
    ///
    /// Other machines can read the JSON. `report` and `export` read files of several runs, other commands of one run.
    ///
    /// Writes: FILE of --output, or standard output.
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArguments),
    /// Convert a fio job to a job file, and list the options that were left out.
    ///
    /// Each section becomes a `[[load]]` with every setting written out, because the defaults of fio differ: 4 KiB
    /// blocks, each touched once before any is touched again. diskperf prints one line for each fio option that it
    /// cannot convert. It leaves out a section in which nothing can be converted. It refuses included files and
    /// variables.
    ///
    /// Writes: FILE of --output, or standard output.
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(ImportArguments),
    /// Run a preset on a simulated machine, such as a VAX of 1983; without MACHINE, list the machines.
    ///
    /// The same tests run through the same code into the same table as on a real machine. A machine consists of parts.
    /// You can print every number of a part (--parts), set it (--set) and vary it (--sweep).
    ///
    /// Writes: the result, in the results database, if the simulation finished; FILE of --timeline and --output.
    #[command(after_help = SIMULATE_EXAMPLES)]
    Simulate(SimulateArguments),
    /// Predict the time of a recorded command on another device, and check the prediction.
    ///
    /// Replays the block traces of a run (diskperf run --record PATH -- COMMAND) on the law of another device: its
    /// latencies, rates, flushes and caches, as `diskperf probe` measures them. The pauses between requests stay those
    /// of the run.
    ///
    /// The traces are first replayed on the run's own device. diskperf refuses a run that this replay misses by more
    /// than 10 %, and one that waited for a processor for more than 10 % of its time. The range contains the measured
    /// time in 9 of 10 predictions. It comes from earlier checks; with fewer than 9 checks it is n.m.
    ///
    /// Writes: with --check, as the command itself does, in a private folder of TARGET, and the results database;
    /// otherwise nothing.
    #[command(after_help = PREDICT_EXAMPLES)]
    Predict(PredictArguments),
    /// Reproduce the tables of Kridle & McKusick 1983 by simulation, next to the printed figures.
    ///
    /// The tables are T1 to T5, D1 and D2. Below each printed row is the simulated one, with its error and its
    /// bottleneck. Cells that the paper leaves empty are predicted; for doubtful ones the simulation assumes healthy
    /// hardware.
    ///
    /// Each of the questions Q1 to Q8 is an experiment that varies one thing. `claims` checks the claims of sections 5
    /// and 6. `assumptions` prints the errors with other guesses and settings. `vaxmix` ranks the controllers by file
    /// rates, as the paper did, and by a mix of accesses, as DEC did. `lfs` says what a log-structured file system
    /// changes.
    ///
    /// Writes: FILE, if you give --output; otherwise nothing.
    #[command(after_help = PAPER_EXAMPLES)]
    Paper(PaperArguments),
    /// Cut the power, and list the acknowledged records that are lost: missing, torn or stale.
    ///
    /// Four writers at once make records durable, each as real programs do. One makes new files (fsync of the file and
    /// of its directory). One appends records to a file (fdatasync). One overwrites records in place (fdatasync). One
    /// replaces files by rename (fsync, rename, fsync of the directory). At a random moment diskperf cuts the power and
    /// mounts the file system again. Then it looks for every record whose calls had returned successfully. --seed
    /// repeats the same moments, but the writers may have written more or fewer records by then.
    ///
    /// image:FSTYPE is a file system on a device with a write cache that is lost with the power. This tests the file
    /// system, its mount options and the kernel. To test a disk, a controller or a hypervisor, cut its real power
    /// (--write, --check).
    ///
    /// The exit status is 0 if nothing is lost, 5 if a record is lost, and 1 if the control finds no loss.
    ///
    /// Writes: a file system on an image, which it removes; with --write, records in a private folder of a directory,
    /// which --check removes if none is lost.
    Verify(VerifyArguments),
    /// Measure the constants of a device: latencies, limits at depth, buckets, flushes, write cache, rotation.
    ///
    /// diskperf sends short series of requests with O_DIRECT, and computes the constants from their times. A device
    /// takes about 20 s, a directory 40 s, a rotating disk up to 60 s. Buckets that were perhaps not full are measured
    /// again, for up to 22 s more. Keep the machine idle: steps in which diskperf waited for a CPU for more than a
    /// tenth of the time do not count. As root, latencies are those of the device, from the block trace.
    ///
    /// Writes: nothing, if TARGET is a device, an existing file or a simulation. For a directory, a file of 256 MiB (at
    /// most a tenth of the free space) in a private folder, which it removes. FILE, if you give --output.
    Probe(ProbeArguments),
    /// Print the JSON Schema of the JSON output.
    ///
    /// Writes: nothing.
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema {
        /// Kind of JSON
        #[arg(value_enum, default_value = "run")]
        document: DocumentKind,
    },
    /// Check what this user, kernel and container can measure, and how to get the rest.
    ///
    /// Tests each ability on temporary objects: a private folder, a file opened with O_DIRECT, the page cache of a
    /// file, a loop device, a private mount, a control group. It removes them all. The exit status is 0 even if
    /// abilities are missing.
    ///
    /// Writes: small test files in PATH, which it removes.
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorArguments),
    /// Measure a disk, and write one JSON file to send: the preset quick, the checks of doctor, power cuts of an image.
    ///
    /// `diskperf run proof` is the same command. The power cuts need root. They test the kernel and the file system.
    ///
    /// Writes: files in private folders of DIRECTORY, which it removes; the run, in the results database; FILE.
    #[command(after_help = PROOF_EXAMPLES)]
    Proof(ProofArguments),
    /// Explain a word of the tables (a warning, a unit, a state, a bottleneck), or a command.
    ///
    /// Without a word, prints the most important commands. `diskperf help commands` lists all commands, `diskperf help
    /// programs` those that repeat a paper, a lab or a book. Other lists are warnings, units, clocks, states,
    /// bottlenecks, breakdown, remarks, terms, presets, targets, keys, parts, costs, checks and exit.
    ///
    /// Writes: nothing.
    #[command(after_help = HELP_EXAMPLES)]
    Help {
        /// Word, list, or command
        #[arg(value_name = "WORD")]
        words: Vec<String>,
    },
    /// Print the manual page, or write the manual pages of all commands.
    ///
    /// Writes: with --out, one page per command and one with all words.
    #[command(after_help = MAN_EXAMPLES)]
    Man(ManArguments),
    /// Generate shell completions.
    ///
    /// The scripts of bash, zsh and fish also complete ids of stored runs, targets, machines and words of the help.
    ///
    /// Writes: nothing; save the output as in the examples.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArguments),
}

/// The grammar of the command line.
pub fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs the command on this command line. Ends the program with exit status 2 if the command line is wrong.
pub fn run(words: Vec<OsString>) -> Result<Exit, Error> {
    if let [_, word] = &words[..]
        && (word == "-h" || word == "--help")
    {
        return commands::help::run(&[], &command());
    }
    let (line, words) = match default_command::read(words.clone()) {
        Ok(read) => read,
        Err(Misread::Words(error)) => return refuse(&error, &words),
        Err(Misread::Meaning(error)) => return Err(json_errors::print_error(&words, *error)),
    };
    perform(line, &words).map_err(|error| json_errors::print_error(&words, error))
}

fn perform(line: CommandLine, words: &[OsString]) -> Result<Exit, Error> {
    let call = |store, output: &OutputArguments<RunFormat>, dry_run| Call {
        words,
        store,
        output: output.output(),
        dry_run,
        live: false,
    };
    if let Some(translated) = fio_words::translated(words) {
        output::remark(&format!("in diskperf options: diskperf {}", shell::line(&translated.words[1..])));
        translated.remarks.iter().for_each(|remark| output::remark(remark));
    }
    hosts::check(matches!(
        line.command,
        None | Some(Command::Run(_) | Command::Io(_) | Command::Choose(_) | Command::Resume(_))
    ))?;
    let main_job = || RunRequest::main_job().resolve().map_err(Error::from);
    match line.command {
        None => begin(&line.output, main_job(), &call(&line.keep, &line.output, false)),
        Some(Command::Run(arguments)) => {
            begin(&arguments.output, arguments.resolve(), &call(&arguments.store, &arguments.output, arguments.dry_run))
        }
        Some(Command::Io(arguments)) if arguments.print_job => arguments.print(),
        Some(Command::Io(arguments)) => {
            let call = call(&arguments.store, &arguments.output, arguments.dry_run);
            begin(&arguments.output, arguments.resolve(), &Call { live: arguments.shows_live(), ..call })
        }
        Some(Command::Choose(arguments)) => {
            begin(&arguments.output, arguments.resolve(), &call(&arguments.store, &arguments.output, arguments.dry_run))
        }
        Some(Command::Resume(arguments)) => commands::resume::run(&arguments),
        Some(Command::Read8192 { file }) => commands::programs::classic::run(Classic::Read8192, &file),
        Some(Command::Write4096 { file }) => commands::programs::classic::run(Classic::Write4096, &file),
        Some(Command::Write8192 { file }) => commands::programs::classic::run(Classic::Write8192, &file),
        Some(Command::Rewrite8192 { file }) => commands::programs::classic::run(Classic::Rewrite8192, &file),
        Some(Command::Copy(arguments)) => commands::programs::copy::run(&arguments),
        Some(Command::Bw(arguments)) => commands::programs::bw::run(&arguments),
        Some(Command::Smallfb(arguments)) => commands::programs::smallfb::run(&arguments),
        Some(Command::Largefb(arguments)) => commands::programs::largefb::run(&arguments),
        Some(Command::Explain(arguments)) => commands::results::explain::run(&arguments),
        Some(Command::Simulate(arguments)) => commands::simulate::run(&arguments, words),
        Some(Command::Predict(arguments)) => commands::predict::run(&arguments),
        Some(Command::Paper(arguments)) => commands::paper::run(&arguments),
        Some(Command::Schema { document }) => commands::schema::run(document),
        Some(Command::Doctor(arguments)) => commands::doctor::run(&arguments),
        Some(Command::Proof(arguments)) => commands::proof::run(&arguments, words),
        Some(Command::Help { words }) => commands::help::run(&words, &command()),
        Some(Command::Man(arguments)) => commands::man::run(&arguments, command()),
        Some(Command::Completions(arguments)) => commands::completions::run(&arguments, command()),
        Some(Command::Verify(arguments)) => commands::verify::run(&arguments),
        Some(Command::Probe(arguments)) => commands::probe::run(&arguments),
        Some(Command::Clean(arguments)) => commands::clean::run(&arguments),
        Some(Command::Delete(arguments)) => commands::results::delete::run(&arguments),
        Some(Command::List(arguments)) => commands::results::list::run(&arguments),
        Some(Command::Show(arguments)) => commands::results::show::run(&arguments),
        Some(Command::Report(arguments)) => commands::results::report::run(&arguments),
        Some(Command::Import(arguments)) => commands::import::run(&arguments),
        Some(Command::Export(arguments)) => commands::results::export::run(&arguments),
        Some(Command::Compare(arguments)) => commands::results::compare::run(&arguments),
        Some(Command::History(arguments)) => commands::results::history::run(&arguments),
    }
}

/// Reads the words. `run TARGET... -- COMMAND` names no preset: the command takes its place. `run proof` is `proof`.
fn parse(words: &[OsString]) -> Result<CommandLine, clap::Error> {
    let mut words = words.to_vec();
    let command = presets::COMMAND.name;
    let is_run = words.get(1).is_some_and(|word| word == "run");
    if is_run && words.iter().any(|word| word == "--") && words.get(2).is_none_or(|word| word != command) {
        words.insert(2, command.into());
    } else if is_run && words.get(2).is_some_and(|word| word == "proof") {
        words.remove(1);
    }
    let of_fio = fio_words::translated(&words).map(|translated| translated.words);
    let has_fio_words = of_fio.is_some();
    let mut words = own_sweep::without_swept_options(of_fio.unwrap_or(words), has_fio_words);
    // The grammar costs time, so that only this command pays for it.
    if words.get(1).is_some_and(|word| word == "choose") {
        let mut grammar = CommandLine::command();
        grammar.build();
        let choose = grammar.find_subcommand("choose").expect("a command of ours");
        words = own_load::divided(words, choose, has_fio_words)?;
    }
    CommandLine::try_parse_from(words)
}

/// The message with which a command line is refused; `None` if it is accepted.
#[cfg(test)]
pub fn refusal(words: &[OsString]) -> Option<String> {
    parse(words).err().filter(clap::Error::use_stderr).map(|error| error.to_string())
}

/// Runs a command that measures, or prints why its arguments are wrong: as JSON, if the command line asks for JSON.
fn begin(shown: &OutputArguments<RunFormat>, asked: Result<Resolved, Error>, call: &Call) -> Result<Exit, Error> {
    match asked {
        Ok(resolved) => commands::run::run(&resolved, call),
        Err(error) => commands::run::refuse(shown, call.words, error),
    }
}

/// Prints the help that was asked for, or prints the error and ends the program. Escapes control characters.
fn refuse(error: &clap::Error, words: &[OsString]) -> Result<Exit, Error> {
    if error.use_stderr() {
        json_errors::print_clap_error(words, error);
    } else if output::page().columns.is_none() {
        // Not by clap, which ignores a full disk. On a terminal, it prints headings in bold.
        return output::print(&error.to_string()).map(|()| Exit::Done);
    }
    let shown: Vec<_> = words.iter().map(|word| OsString::from(sanitize::line(&word.shown()).into_owned())).collect();
    if shown == words {
        error.exit();
    }
    if let Err(Misread::Words(error)) = default_command::read(shown) {
        error.exit();
    }
    output::remark(&error.to_string());
    std::process::exit(error.exit_code())
}

/// Resolves the run that a command line asks for. `None` if it runs nothing, or if it names a job file and `may_read`
/// is false.
#[cfg(test)]
pub fn asked(words: &[OsString], may_read: bool) -> Option<Result<Resolved, Error>> {
    Some(match parse(words).ok()?.command {
        Some(Command::Run(arguments)) if may_read || !arguments.names_job() => arguments.resolve(),
        Some(Command::Io(arguments)) => arguments.resolve(),
        Some(Command::Choose(arguments)) => arguments.resolve(),
        _ => return None,
    })
}
