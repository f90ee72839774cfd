//! Examples below the help of the commands. A test reads each as the program would.

/// A question of a new user.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    pub question: &'static str,
    /// The command that answers it.
    pub command: &'static str,
    /// The page that explains it.
    pub page: &'static str,
}

/// The tasks of the first screen.
pub const TASKS: [Task; 5] = [
    Task {
        question: "Which of two directories is faster for a database?",
        command: "diskperf choose /mnt/a /mnt/b --use database",
        page: "docs/guides/choose.md",
    },
    Task {
        question: "Does the mount option noatime make a build faster?",
        command: "sudo diskperf choose image:ext4 image:ext4,mount=noatime --use build",
        page: "docs/guides/choose.md",
    },
    Task {
        question: "How does an existing fio job run here?",
        command: "diskperf import db.fio -o db.toml; diskperf run db.toml /mnt/a",
        page: "docs/guides/workloads.md",
    },
    Task {
        question: "Why was the last run slow?",
        command: "diskperf explain last",
        page: "docs/guides/read-the-table.md",
    },
    Task {
        question: "Did a commit make a test slower? In CI, save base.json once, then:",
        command: "diskperf run quick . --rounds 10 --budget 5min --json -o now.json && diskperf compare base.json \
            now.json \
                  --fail-if slower:5%",
        page: "docs/guides/ci.md",
    },
];

pub const RUN_EXAMPLES: &str = "Examples:
  diskperf run quick /mnt/disk
  diskperf run classic1983 ssd=/mnt/ssd hdd=/mnt/hdd --size 8MiB

The tables of The Linux Programming Interface in five minutes:
  diskperf run tlpi . --budget 5min

Workloads of your own, one after another:
  printf '[[load]]\\npattern = \"randread\"\\ndirect = true\\n' > mine.toml
  diskperf run mine.toml . --rounds 3

The same at the same time: write this line above the first [[load]], or group = \"NAME\" in some of them:
  together = true

Your own command, which copies a tree into a private folder of this disk:
  diskperf run . -- cp -r /usr/include {}

The cost of packing that tree with a cold page cache:
  diskperf run . --cold --prepare 'cp -r /usr/include src' -- tar -cf src.tar src";

pub const IO_EXAMPLES: &str = "Examples: random 4 KiB reads at queue depth 32
  diskperf io randread --direct --iodepth 32

Latency at 2000 reads per second, from the intended start of each read:
  diskperf io randread --direct --rate 2000 --arrivals poisson

A database: four threads, hot blocks, two block sizes, an fsync after every 16 writes:
  diskperf io randrw --jobs 4 --order zipf:0.99 --bs 8KiB:90,64KiB:10 --fsync 16

Several values of an option, as one run with a row for each combination, and the knee of each option:
  diskperf io randread --direct --bs 4k..1M*2 --iodepth 1..128*2 --jobs 1,4

How long one read takes, until Ctrl-C:
  diskperf io randread --direct --rate 1 --time forever --live

The same workload again tomorrow:
  diskperf io randrw --reads 70 --time 10s --print-job > mix.toml
  diskperf run mix.toml";

pub const CHOOSE_EXAMPLES: &str = "Examples: two disks, for a database
  diskperf choose ssd=/mnt/ssd hdd=/mnt/hdd --use database

File systems, on loop images on this disk:
  diskperf choose image:ext4 image:xfs image:btrfs

The same after aging:
  diskperf choose --fill 70% --age 1000 image:ext4 image:xfs

A block-queue setting, with requirements:
  diskperf choose as-is=. none=.,tune=scheduler:none --need 'randread>=5000/s,commit.p99<=10ms'

By a workload of your own, with the options of `diskperf io`, or by those of a job file:
  diskperf choose /mnt/a /mnt/b io randwrite --fsync 1 --need 'fsync.p99<=5ms'
  diskperf choose /mnt/a /mnt/b --load db.toml --use data=60,log=40

By a command of your own:
  diskperf choose image:ext4 image:xfs --prepare 'cp -r /usr/include src' -- tar -cf src.tar src

The effect of each setting, on top of the ones before:
  diskperf choose --stages image:ext4 image:ext4,mount=noatime \\
    image:ext4,mount=noatime,tune=read_ahead_kb:4096

How was a controller of 1983 improved?
  diskperf choose --stages sim:vax780-sc780-inadequate-lead sim:vax780-sc780-initial-arbitration \\
    sim:vax780-sc780 --preset classic1983";

pub const READ_8192_EXAMPLE: &str = "Example:
  time diskperf read_8192 file";

pub const WRITE_4096_EXAMPLE: &str = "Example:
  time diskperf write_4096 file";

pub const WRITE_8192_EXAMPLE: &str = "Example:
  time diskperf write_8192 file";

pub const REWRITE_8192_EXAMPLE: &str = "Example:
  diskperf write_8192 file; time diskperf rewrite_8192 file";

pub const COPY_EXAMPLES: &str = "Examples: the cost of one-byte calls, against 64 KiB
  diskperf copy old new --buffer 1
  diskperf copy old new --buffer 64KiB

For \"copy\" in simulated results, see: diskperf help copying";

pub const EXPLAIN_EXAMPLES: &str = "Examples:
  diskperf explain        the last stored run
  diskperf explain last smallfb.read commit    only these tests
  diskperf run quick --json -o run.json; diskperf explain run.json
  diskperf run smoke sim:flat --json | diskperf explain - --format csv";

pub const LIST_EXAMPLES: &str = "Examples:
  diskperf list
  diskperf list --json";

pub const SHOW_EXAMPLES: &str = "Examples:
  diskperf show               the last stored run
  diskperf show k3 --json     the run whose id begins with k3
  diskperf show run.json      a result file";

pub const REPORT_EXAMPLES: &str = "Examples: a page of the latest run
  diskperf report -o report.html

Two runs and the tables of 1983 on one page:
  diskperf report k3 m7 --paper -o report.html

A comment for a pull request; the charts as files:
  diskperf report last --format markdown
  diskperf report last --svg charts

All stored runs of a test:
  diskperf history read /data --json -o read.json
  diskperf report read.json -o read.html";

pub const COMPARE_EXAMPLES: &str = "Examples: is it still as fast as last month?
  diskperf compare k3 last

In CI: keep one run as the baseline, and fail if a test is slower:
  diskperf run quick . --size 64MiB --rounds 8 --budget 5min --json -o base.json
  diskperf run quick . --size 64MiB --rounds 8 --budget 5min --json -o now.json &&
    diskperf compare base.json now.json --fail-if slower:5%

A larger tolerance for one test:
  diskperf compare base.json now.json --fail-if commit:slower:20%,read:slower:5%";

pub const HISTORY_EXAMPLES: &str = "Examples:
  diskperf history read /data          read_8192 on /data in all stored runs
  diskperf history smallfb --limit 5   each phase on each target, the last five runs
  diskperf history commit ssd --format csv -o commit.csv";

pub const RESUME_EXAMPLES: &str = "Examples:
  diskperf resume        the last run that is not finished
  diskperf resume k3     the run whose id begins with k3";

pub const EXPORT_EXAMPLES: &str = "Examples:
  diskperf export last --format csv -o cells.csv
  diskperf export k3 m7 --format markdown --anonymous
  diskperf export --to fio db.toml -o db.fio";

pub const IMPORT_EXAMPLES: &str = "Example: convert a fio job, run it, and convert it back
  diskperf import db.fio -o db.toml; diskperf run db.toml /data
  diskperf export --to fio db.toml -o again.fio";

pub const SIMULATE_EXAMPLES: &str = "Examples: the parts of a machine, and the source of each number
  diskperf simulate vax780-sc780 --parts

Another drive behind the same controller:
  diskperf simulate vax780-sc780 --set drive=ra81

A picture of a lost revolution:
  diskperf simulate vax780-sc780-inadequate-lead --program read_8192 --timeline lost.svg

How much buffer does a controller on a slow bus need?
  diskperf simulate vax750-uda50 --sweep controller.buffer_sectors=16..256*2 --program read_8192";

pub const PAPER_EXAMPLES: &str = "Examples:
  diskperf paper                     all tables, with the errors of the simulation
  diskperf paper T2 Q8               one table and one question
  diskperf paper claims              the claims of sections 5 and 6, checked
  diskperf paper claims --certainty  the assumptions that would change a verdict
  diskperf paper assumptions         the errors with other guesses and settings
  diskperf paper vaxmix              does the ranking of the controllers depend on the method?
  diskperf paper lfs                 what does a log-structured file system change?";

pub const PREDICT_EXAMPLES: &str = "Examples: record a command here, and predict its time on a gp3 volume
  sudo diskperf run --record /mnt/a -- tar xf /srv/linux.tar
  sudo diskperf probe /mnt/a -o here.toml
  diskperf predict last --on ebs-gp3 --from here.toml
What if reads took half the time? And how good were the predictions?
  diskperf predict last --from here.toml --set read_latency=x0.5
  diskperf predict --record";

pub const SCHEMA_EXAMPLES: &str = "Examples:
  diskperf schema         the JSON of run, show and simulate
  diskperf schema job     every key of a job file";

pub const DOCTOR_EXAMPLES: &str = "Examples:
  diskperf doctor
  sudo diskperf doctor /mnt/disk --json";

pub const PROOF_EXAMPLES: &str = "Examples: measure a disk, and read the file before you send it
  sudo diskperf proof /mnt/disk -o mine.json --anonymous
  diskperf proof -o mine.json --anonymous    the disk of this directory, without power cuts";

pub const HELP_EXAMPLES: &str = "Examples:
  diskperf help noise      a warning
  diskperf help warnings   all warnings
  diskperf help run        a command";

pub const MAN_EXAMPLES: &str = "Examples:
  diskperf man | man -l -
  diskperf man --out pages; man pages/diskperf-run.1";

pub const COMPLETIONS_EXAMPLES: &str = "Examples:
  diskperf completions bash > ~/.local/share/bash-completion/completions/diskperf
  diskperf completions fish > ~/.config/fish/completions/diskperf.fish";

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::Arg;

    use crate::cli;

    /// Name, description and text below the options of each command.
    fn helps() -> Vec<(String, String, String)> {
        let text = |text: Option<&clap::builder::StyledStr>| text.map(ToString::to_string).unwrap_or_default();
        let help = |command: &clap::Command| {
            (command.get_name().to_owned(), text(command.get_long_about()), text(command.get_after_help()))
        };
        cli::command().get_subcommands().map(help).collect()
    }

    /// The command lines of examples, in words.
    fn calls(examples: &str) -> Vec<Vec<OsString>> {
        let joined = examples.replace("\\\n", " ");
        let lines = joined.lines().filter_map(|line| line.strip_prefix("  "));
        // A comment follows after several spaces.
        let typed = lines.filter_map(|line| line.trim_start().split("   ").next());
        let pieces = typed.flat_map(|line| line.split([';', '|', '&'])).map(str::to_owned).collect::<Vec<String>>();
        let words = pieces.iter().filter_map(|piece| {
            let (_, after) = piece.split_once("diskperf ").filter(|(before, _)| {
                let known = |word: &str| ["sudo", "time", "ssh", "HOST"].contains(&word);
                before.split_whitespace().all(known)
            })?;
            let after = after.split(" > ").next()?.split(" < ").next()?;
            Some(
                std::iter::once("diskperf".into())
                    .chain(shlex::split(after)?.into_iter().map(OsString::from))
                    .collect(),
            )
        });
        words.collect()
    }

    #[test]
    fn every_help_text_names_its_writes_and_has_examples() {
        for (name, long, after) in helps() {
            assert!(long.contains("Writes: "), "{name}: {long}");
            assert!(after.starts_with("Example"), "{name}: {after}");
            assert!(after.contains(&format!("diskperf {name}")), "{name}: {after}");
        }
    }

    #[test]
    fn every_example_is_a_valid_command_line() {
        let mut tried = 0;
        for (name, _, after) in helps() {
            for words in calls(&after) {
                assert_eq!(cli::refusal(&words), None, "{name}: {words:?}");
                tried += 1;
            }
        }
        assert!(tried > 60, "{tried} examples");
        // A wrong example would be found.
        let wrong = calls("Example:\n  sudo diskperf run quick . --bogus   a comment");
        assert!(wrong.len() == 1 && cli::refusal(&wrong[0]).is_some(), "{wrong:?}");
    }

    #[test]
    fn every_task_is_a_valid_command_line_with_a_page() {
        for task in super::TASKS {
            let typed = calls(&format!("Example:\n  {}", task.command));
            assert!(!typed.is_empty(), "{}", task.command);
            for words in typed {
                assert_eq!(cli::refusal(&words), None, "{words:?}");
            }
            let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(task.page);
            assert!(page.is_file(), "{}", task.page);
        }
    }

    #[test]
    fn argument_descriptions_begin_with_a_noun_or_a_verb() {
        const OTHERS: [&str; 18] = [
            "All", "Also", "An", "As", "At", "For", "How", "If", "In", "Of", "On", "Only", "So", "The", "What", "When",
            "Where", "Who",
        ];
        let check = |name: &str, argument: &Arg| {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let first = help.split([' ', ',']).next().unwrap_or_default();
            assert!(!first.is_empty() && !OTHERS.contains(&first), "{name} {}: {help}", argument.get_id());
        };
        let mut command = cli::command();
        command.build();
        for known in command.get_subcommands() {
            known.get_arguments().for_each(|argument| check(known.get_name(), argument));
        }
    }
}
