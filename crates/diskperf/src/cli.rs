//! The command line: what can be typed, and the help that teaches it.

mod alone;
pub mod command;
mod examples;
pub mod run;
pub mod simulate;
pub mod values;
mod wrong;

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};
use kernel::name::Shown;
use report::plain;
use workload::programs::mckusick::Classic;

use crate::commands;
use crate::commands::bw::BwArguments;
use crate::commands::choose::ChooseArguments;
use crate::commands::clean::CleanArguments;
use crate::commands::compare::CompareArguments;
use crate::commands::completions::CompletionsArguments;
use crate::commands::copy::CopyArguments;
use crate::commands::delete::DeleteArguments;
use crate::commands::doctor::DoctorArguments;
use crate::commands::explain::ExplainArguments;
use crate::commands::export::ExportArguments;
use crate::commands::history::HistoryArguments;
use crate::commands::import::ImportArguments;
use crate::commands::io::IoArguments;
use crate::commands::largefb::LargefbArguments;
use crate::commands::list::ListArguments;
use crate::commands::man::ManArguments;
use crate::commands::paper::PaperArguments;
use crate::commands::report::ReportArguments;
use crate::commands::resume::ResumeArguments;
use crate::commands::show::ShowArguments;
use crate::commands::smallfb::SmallfbArguments;
use crate::commands::verify::VerifyArguments;
use crate::error::Error;
use crate::exit::Exit;
use crate::layout::{OutputArguments, RunFormat};
use crate::output;
use crate::presets;
use crate::runs::KeepArguments;

use alone::Misread;
use examples::{
    CHOOSE_EXAMPLES, COMPARE_EXAMPLES, HISTORY_EXAMPLES, IO_EXAMPLES, REPORT_EXAMPLES, RUN_EXAMPLES, SIMULATE_EXAMPLES,
};
use run::RunArguments;
use simulate::SimulateArguments;
use values::DocumentKind;

/// How fast is this for what programs do, can I believe the number, and why?
///
/// Without a command, measures each TARGET, or the directory you stand in: diskperf PATH is diskperf run quick PATH, and
/// takes the same options. The name of a command is never a path: write ./run for the directory run.
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
    keep: KeepArguments,
    #[command(flatten)]
    output: OutputArguments<RunFormat>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a preset on one target or several, and print its table.
    ///
    /// With a command of your own behind two dashes no preset is named: diskperf run TARGET... -- COMMAND
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<RunArguments>),
    /// Measure one load of your own: a pattern, a block size, a depth, a rate.
    ///
    /// Each round makes a file in a private folder, runs the load on it for a time, and removes it. What is written is
    /// measured until it is durable.
    #[command(after_help = IO_EXAMPLES)]
    Io(IoArguments),
    /// Decide between targets: which is faster, by how much, and how sure that is.
    ///
    /// In every round each target runs each program once, in shuffled order. Rounds go on, six at least, until every
    /// comparison is sure enough, or until the budget is spent. Of each program it is said which target is faster, with
    /// the interval of the ratio, or that they are the same within the margin, or that it is not decided and how many
    /// rounds would decide it. The intervals are Student's over the rounds, so wide (Holm) that of 100 runs no more than 5
    /// call anything faster that is not.
    ///
    /// Every two targets are compared; with --stages each with the one before it, and the last with the first.
    #[command(after_help = CHOOSE_EXAMPLES)]
    Choose(ChooseArguments),
    /// Read 8 MiB of FILE in calls of 8192 bytes, as in 1983; prints nothing, meant for `time`.
    #[command(name = "read_8192")]
    Read8192 { file: OsString },
    /// Write 8 MiB to FILE, emptied or made, in calls of 4096 bytes, as in 1983.
    #[command(name = "write_4096")]
    Write4096 { file: OsString },
    /// Write 8 MiB to FILE, emptied or made, in calls of 8192 bytes, as in 1983.
    #[command(name = "write_8192")]
    Write8192 { file: OsString },
    /// Write 8 MiB over what FILE holds in calls of 8192 bytes, as in 1983.
    #[command(name = "rewrite_8192")]
    Rewrite8192 { file: OsString },
    /// Copy the file OLD to NEW through a buffer of your choice, and say what it cost; the program of table
    /// 13-1 of Kerrisk, The Linux Programming Interface, 2010.
    ///
    /// Opens OLD, makes or empties NEW, and reads and writes one buffer at a time, as listing 4-1 of the
    /// book. Prints nothing on standard output; the bytes, the time, the CPU time and the rate (MB/s, a
    /// million bytes each second) stand on standard error. `diskperf run tlpi` does it with all buffers.
    #[command(after_help = "Example: what one-byte calls cost, against 64 KiB\n  \
        diskperf copy old new --buffer 1\n  diskperf copy old new --buffer 64KiB")]
    Copy(CopyArguments),
    /// Time raw reads of DEVICE, a block device or a file: their rate (-b) or their latency (-l).
    ///
    /// The programs of a course lab of about 2002, whose lines are printed word for word. DEVICE is only ever
    /// opened for reading, past the page cache (O_DIRECT) where it takes that.
    ///
    /// -b reads N MB from the beginning, in calls of 1 MiB. A MB is 2^20 bytes; the lab does not say. -l reads N
    /// single blocks anywhere on the device, one after the other: a block is the device's logical block (512
    /// bytes mostly), for a file what O_DIRECT on it asks for. Blocks that were never written, or that a cache
    /// below this system holds, come back faster than any disk reads.
    ///
    /// Without N, the lab's whole series is run: 64 128 256 512 768 MB, or 128 to 8192 reads, doubling. The
    /// median and the spread of the series follow on standard error; its best, which the lab quoted, misleads.
    Bw(BwArguments),
    /// Create N files of SIZE bytes here, read them, delete them: files per second.
    ///
    /// The small-file benchmark of a course lab of about 2002, whose lines are printed word for word; it descends
    /// from figure 8 of Rosenblum & Ousterhout 1991, with its 10000 files of one kilobyte. It runs once, in a
    /// private folder inside the current directory, which is removed again.
    ///
    /// The figure of `creat` and `delete` is the durable one: it ends when every directory touched and the file
    /// system are synced. The rate until the last call returned follows on standard error, with what the device
    /// had written by then, and with what the device did not read of what was read.
    Smallfb(SmallfbArguments),
    /// Write and read a file of MB megabytes here, in order and at random: KB per second.
    ///
    /// The large-file benchmark of a course lab of about 2002, whose lines are printed word for word; it descends
    /// from figure 9 of Rosenblum & Ousterhout 1991. Five phases, each in calls of 4096 bytes: write in order,
    /// read in order, write at random, read at random, read in order again. It runs once, in a private folder
    /// inside the current directory, which is removed again.
    ///
    /// The MB of the argument is 2^20 bytes, the KB of KB/sec 1000: so the lab's own figures say. The figure of a
    /// writing phase is the durable one: it ends when file, name and file system are synced. The rate until the
    /// last call returned follows on standard error, with what the device had written by then, and with what the
    /// device did not read of what was read.
    Largefb(LargefbArguments),
    /// Say where each millisecond of a run went, and what limited it.
    ///
    /// Reads the document of a run and says of each of its cells, measured or simulated, how the elapsed time
    /// of all its rounds divides among those who had it. The parts sum to the whole; what nothing that was
    /// seen explains is printed as the rest.
    ///
    /// user, system: computing in the program, and in the kernel in its calls. quota: a limit that somebody
    /// set, on the CPU or on the device, was used up. ready: it could run, and no processor was free. flush:
    /// waiting until the device had made data durable. dirty throttling: held back, as too much waited to be
    /// written. device service, device queue: the device did its work, or other work first. kernel workers:
    /// waiting, at most so long, for kernel threads. The CPU time of programs is exact; waiting is told by
    /// counters of the device and of the machine, each of which gives no more than what those before it left.
    ///
    /// Below stands what limited the cell: cpu, device (it can do no more), latency (one request after the
    /// other), flush, dirty throttle, quota (a limit that somebody set), memory; n.m. where it cannot be told.
    #[command(after_help = "Examples:\n  \
        diskperf run quick --json -o run.json; diskperf explain run.json\n  \
        diskperf explain run.json smallfb.read commit    only these\n  \
        diskperf run smoke sim:flat --json | diskperf explain - --format csv")]
    Explain(ExplainArguments),
    /// List the stored runs, the latest last.
    List(ListArguments),
    /// Print a stored run, or one whose document lies in a file, as it was printed when it was measured.
    #[command(
        after_help = "Examples:\n  diskperf show last\n  diskperf show k3 --json     the run whose id begins so\n  \
        diskperf show run.json"
    )]
    Show(ShowArguments),
    /// Make a page of stored runs: one file with the verdict, charts, tables and footnotes, for a browser or paper.
    ///
    /// The page asks no network for anything, and is complete without scripts. Its last part is the document of the run, to be
    /// saved or taken out as JSON; of a large one the rounds are left out there, so that the page stays below 300 KB.
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArguments),
    /// Compare two runs that were measured one after the other: what is faster, and what has changed around them.
    ///
    /// Cells are the same where preset, program, phase and settings are; where each run has one target, that is the same
    /// whatever it is called, else targets of one name are. Rates are compared whatever unit they are printed in. Of each
    /// it is said whether it is faster, slower, the same within the margin, or not decided, and how many rounds of each run
    /// would decide it; five of each are needed. The intervals are Welch's over the rounds' logarithms, so wide (Holm) that
    /// of 100 comparisons no more than 5 call anything faster or slower that is not. What has changed on the machine between
    /// the runs is in every ratio: where both can be measured at once, choose does without.
    ///
    /// --fail-if slower:5% ends with exit status 5 where a cell is surely slower (its interval leaves out 1) and by as much
    /// in the middle of the interval, where one was measured then and is not now, and where one cannot be guarded: too few
    /// rounds, an interrupted run, a mark that calls its rate false, another amount. What is not decided is named, and does
    /// not fail.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArguments),
    /// Print how fast a program was on a target in every stored run, and what changed between two.
    ///
    /// A line for each run, the oldest first; each is compared with the one before it, as compare does, but by itself: of 100
    /// steps that change nothing, 5 may look like a change.
    #[command(after_help = HISTORY_EXAMPLES)]
    History(HistoryArguments),
    /// Go on with a run that was interrupted or killed, where it ended.
    ///
    /// What is finished is kept, programs that failed are run again. It is done with the same diskperf on the same
    /// machine, or not at all. A run whose budget was spent is finished.
    Resume(ResumeArguments),
    /// Delete stored runs from the results database.
    ///
    /// If a RUN is unknown or still running, diskperf deletes nothing. Deleted data are overwritten, and the database
    /// shrinks.
    Delete(DeleteArguments),
    /// Find and remove what runs that are no more have left behind: those that were killed, and what --keep kept.
    ///
    /// Private folders in directories; kept images; file systems on devices, so that these can be used again without
    /// --destroy-data, until the next boot; queues that are still tuned. diskperf recognises them by tags that it wrote.
    /// Folders, images and half-made file systems without a tag are listed too, and removed only after a yes on a
    /// terminal (--yes is not enough). What a running diskperf has made stays.
    Clean(CleanArguments),
    /// Print stored runs for other programs (json, csv) and other people (markdown).
    #[command(after_help = "Examples:\n  diskperf export last --format csv -o cells.csv\n  \
        diskperf export k3 m7 --format markdown --anonymous")]
    Export(ExportArguments),
    /// Make a job file of a job of fio, and say what of it was not taken.
    ///
    /// Each section becomes a `[[load]]`, which says everything that it takes: what fio does of itself (blocks of 4 KiB, each
    /// touched once before any is again) is other than what is done here. What has no meaning here is said, a line each; a
    /// section of nothing else is left out. Files that are included, and variables, are refused.
    #[command(after_help = "Example: what a job of fio is here, and back\n  \
        diskperf import db.fio -o db.toml; diskperf run db.toml /data\n  \
        diskperf export --to fio db.toml -o again.fio")]
    Import(ImportArguments),
    /// Run a preset on a simulated machine, such as a VAX of 1983; without a machine, list those there are.
    ///
    /// The same programs go through the same code into the same table as on a real one. A machine is made of parts,
    /// and every number of a part can be looked at (--parts), set (--set) and swept (--sweep). What is finished is stored
    /// with the other runs, for list, show, export and explain; what was interrupted is not, and is soon computed again.
    #[command(after_help = SIMULATE_EXAMPLES)]
    Simulate(SimulateArguments),
    /// Print the tables of Kridle & McKusick 1983 with the simulated figures under the printed ones, answer the
    /// questions the authors asked, and judge what they claim.
    ///
    /// The tables are T1 to T5 and D1, D2. Under each printed row stands what the simulated machine gives, how far
    /// that lies off, and what limits it; what was not measured is predicted, and what was suspect is given as healthy
    /// hardware would. Each of the questions Q1 to Q8 is an experiment in which one thing is varied. vaxmix ranks the
    /// controllers by files, as the paper did, and by accesses drawn from a mix, as DEC did.
    #[command(after_help = "Examples:\n  diskperf paper              all tables, and how far off they are\n  \
        diskperf paper T2 Q8        a table and a question\n  diskperf paper claims       what section 5 and 6 assert\n  \
        diskperf paper vaxmix       does the ranking of the controllers depend on the approach?")]
    Paper(PaperArguments),
    /// Cut the power, and say which data that were acknowledged as durable are lost: missing, torn or stale.
    ///
    /// Four writers at once make records durable, each as programs do: new files (fsync of the file and of its
    /// directory), records at the end of a file (fdatasync), records over older ones (fdatasync), files renamed over older
    /// ones (fsync, rename, fsync of the directory). At a moment of chance the power goes, the file system is mounted
    /// again, and every record whose calls had returned well is looked for. With --seed the moments are chosen the same;
    /// what the writers have done by then differs.
    ///
    /// image:FSTYPE is a file system on a device with a write cache that is lost with the power: what barriers are for.
    /// It shows what the file system, its options and the kernel keep of their word. A disk, a controller or a
    /// hypervisor that does not keep its own is only found out by cutting its power, with --write and --check.
    ///
    /// Where nothing is lost, the exit status is 0; where something is, 5.
    Verify(VerifyArguments),
    /// Print the JSON Schema of what `--format json` prints.
    Schema {
        /// Of which document.
        #[arg(value_enum, default_value = "run")]
        document: DocumentKind,
    },
    /// Say what this user, kernel and container can measure, and how to get the rest.
    ///
    /// Tries what a measurement would do, on things of its own: a private folder, a file past the page cache, the page
    /// cache of a file in a known state, a loop device, a mount that nobody else sees, a control group. Nothing of it
    /// is left. What cannot be had is an answer and no failure: the exit status is 0.
    Doctor(DoctorArguments),
    /// Explain a word of the tables (every mark, unit, clock, state, limit), or a command.
    ///
    /// Without a word, print the commands by what a person wants to do. `diskperf help marks` lists the marks, and so
    /// for units, clocks, states, limits, owners, terms, presets, targets, keys, parts and exit.
    #[command(after_help = "Examples:\n  diskperf help noise\n  diskperf help limits\n  diskperf help run")]
    Help {
        /// A word, a topic, or a command.
        #[arg(value_name = "WORD")]
        words: Vec<String>,
    },
    /// Print the manual page, or write those of all commands.
    Man(ManArguments),
    /// Print what completes the commands in a shell.
    #[command(after_help = "Examples:\n  \
        diskperf completions bash > ~/.local/share/bash-completion/completions/diskperf\n  \
        diskperf completions fish > ~/.config/fish/completions/diskperf.fish")]
    Completions(CompletionsArguments),
}

/// All that can be typed.
pub fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs the command that these words are. Ends the program by itself after `--help`, and with exit status 2
/// where the words make no sense.
pub fn run(words: Vec<OsString>) -> Result<Exit, Error> {
    if let [_, word] = &words[..]
        && (word == "-h" || word == "--help")
    {
        return commands::help::run(&[]);
    }
    let (line, words) = match alone::read(words.clone()) {
        Ok(read) => read,
        Err(Misread::Words(error)) => refuse(&error, &words),
        Err(Misread::Meaning(error)) => return Err(wrong::told(&words, *error)),
    };
    perform(line, &words).map_err(|error| wrong::told(&words, error))
}

fn perform(line: CommandLine, words: &[OsString]) -> Result<Exit, Error> {
    match line.command {
        None => commands::run::run(&RunArguments::main_job(line.keep, line.output), words),
        Some(Command::Run(arguments)) => begin(&arguments.output.clone(), arguments.complete(None, None), words),
        Some(Command::Io(arguments)) if arguments.print_job => arguments.print(),
        Some(Command::Io(arguments)) => begin(&arguments.output.clone(), RunArguments::of_load(arguments), words),
        Some(Command::Choose(arguments)) => begin(&arguments.output.clone(), RunArguments::of_choice(arguments), words),
        Some(Command::Resume(arguments)) => commands::resume::run(&arguments),
        Some(Command::Read8192 { file }) => commands::classic::run(Classic::Read8192, &file),
        Some(Command::Write4096 { file }) => commands::classic::run(Classic::Write4096, &file),
        Some(Command::Write8192 { file }) => commands::classic::run(Classic::Write8192, &file),
        Some(Command::Rewrite8192 { file }) => commands::classic::run(Classic::Rewrite8192, &file),
        Some(Command::Copy(arguments)) => commands::copy::run(&arguments),
        Some(Command::Bw(arguments)) => commands::bw::run(&arguments),
        Some(Command::Smallfb(arguments)) => commands::smallfb::run(&arguments),
        Some(Command::Largefb(arguments)) => commands::largefb::run(&arguments),
        Some(Command::Explain(arguments)) => commands::explain::run(&arguments),
        Some(Command::Simulate(arguments)) => commands::simulate::run(&arguments, words),
        Some(Command::Paper(arguments)) => commands::paper::run(&arguments),
        Some(Command::Schema { document }) => commands::schema::run(document),
        Some(Command::Doctor(arguments)) => commands::doctor::run(&arguments),
        Some(Command::Help { words }) => commands::help::run(&words),
        Some(Command::Man(arguments)) => commands::man::run(&arguments),
        Some(Command::Completions(arguments)) => commands::completions::run(&arguments),
        Some(Command::Verify(arguments)) => commands::verify::run(&arguments),
        Some(Command::Clean(arguments)) => commands::clean::run(&arguments),
        Some(Command::Delete(arguments)) => commands::delete::run(&arguments),
        Some(Command::List(arguments)) => commands::list::run(&arguments),
        Some(Command::Show(arguments)) => commands::show::run(&arguments),
        Some(Command::Report(arguments)) => commands::report::run(&arguments),
        Some(Command::Import(arguments)) => commands::import::run(&arguments),
        Some(Command::Export(arguments)) => commands::export::run(&arguments),
        Some(Command::Compare(arguments)) => commands::compare::run(&arguments),
        Some(Command::History(arguments)) => commands::history::run(&arguments),
    }
}

/// Reads the words. `run TARGET... -- COMMAND` names no preset: the command takes its place.
fn parse(words: &[OsString]) -> Result<CommandLine, clap::Error> {
    let mut words = words.to_vec();
    let command = presets::COMMAND.name;
    let has_command = words.get(1).is_some_and(|word| word == "run") && words.iter().any(|word| word == "--");
    if has_command && words.get(2).is_none_or(|word| word != command) {
        words.insert(2, command.into());
    }
    CommandLine::try_parse_from(words)
}

/// Why these words are no command line.
#[cfg(test)]
pub fn refusal(words: &[OsString]) -> Option<String> {
    parse(words).err().filter(clap::Error::use_stderr).map(|error| error.to_string())
}

/// Runs what is asked for, or says why it makes no sense, as a document where one was asked for.
fn begin(
    shown: &OutputArguments<RunFormat>,
    asked: Result<RunArguments, Error>,
    words: &[OsString],
) -> Result<Exit, Error> {
    match asked {
        Ok(arguments) => commands::run::run(&arguments, words),
        Err(error) => commands::run::refuse(shown, words, error),
    }
}

/// Says what is wrong with the words, or the help that they asked for, and ends the program.
fn refuse(error: &clap::Error, words: &[OsString]) -> ! {
    if error.use_stderr() {
        wrong::document(words, error);
    }
    // It repeats them: then as a terminal may have them.
    let shown = words.iter().map(|word| OsString::from(plain::line(&word.shown()).into_owned())).collect();
    match alone::read(shown) {
        Err(Misread::Words(error)) => error.exit(),
        _ => {
            output::remark(&error.to_string());
            std::process::exit(error.exit_code())
        }
    }
}

/// What these words, of a run that was stored, with the job file or the derived mix that it had, ask for; nothing if this
/// build takes them for something else. A program of the user's that is gone is an error of its own.
pub fn stored(words: &[OsString], job: Option<&str>, mix: Option<&str>) -> Option<Result<RunArguments, Error>> {
    let line = parse(words).ok()?;
    let completed = match line.command {
        None => Ok(RunArguments::main_job(line.keep, line.output)),
        Some(Command::Run(arguments)) => arguments.complete(job, mix),
        Some(Command::Io(arguments)) => RunArguments::of_load(arguments),
        Some(Command::Choose(arguments)) => RunArguments::of_choice(arguments),
        Some(_) => return None,
    };
    Some(completed).filter(|completed| matches!(completed, Ok(_) | Err(Error::Command(_))))
}
