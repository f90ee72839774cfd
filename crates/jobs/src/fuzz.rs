//! Fuzzes job files and fio jobs: examples, changed at random.

use testkit::fuzz::{Subject, fuzz};

use crate::error::JobError;
use crate::fio;
use crate::job_file::Job;
use crate::queue_depth::sample;
use crate::source_span::{Source, SourceSpan};

/// The text of an error. It is no longer than a screen and a few copies of the input.
fn words(error: &JobError, text: &str) -> String {
    let words = format!("{error} {:?}", error.hint());
    assert!(words.len() <= 3000 + 4 * text.len(), "{} bytes about {}", words.len(), text.len());
    for line in error.span().into_iter().flat_map(SourceSpan::excerpt) {
        assert!(line.chars().count() <= 100, "{line:?}");
    }
    words
}

fn named(text: impl Into<String>) -> Source {
    Source::new("x", text)
}

#[test]
fn fuzz_job_files() {
    let examples = [
        "targets = ['.']\nrounds = 3\nbudget = '2min'\nseed = 7\n[[load]]\npattern = 'randread'\niodepth = 4\n\
         [[load]]\nname = 'a'\npattern = 'randrw'\nreads = 70\nrate = 100\narrivals = 'poisson'\nsize = '1GiB'\n",
        "[[load]]\npattern = \"write\"\nbs = \"4KiB:60,64KiB:40\"\n\
         fsync = 8\nsync = \"dsync\"\nthink = \"1ms\"\njobs = 2\n",
        "[[load]]\npattern = 'read' # in order\nstride = '1MiB'\nwarm = true\nengine = 'posix'\ntime = '10s'\n",
        "[[load]]\npattern = 'randread'\norder = 'zipf:0.99'\ndirect = true\n",
    ];
    let words = &[
        "[[load]]\n",
        "pattern = 'commit'\n",
        "name = 'x'\n",
        "iodepth = 32\n",
        "order = 'permutation'\n",
        "warm = true\n",
        "engine = 'null'\n",
        "rounds = 0\n",
        "stride = '8KiB'\n",
        "\"",
        "'",
        "= ",
        "[",
        "{",
        "# ",
    ];
    let read = |input: &[u8]| {
        let text = named(String::from_utf8_lossy(input));
        let job = match Job::read(&text, &sample()) {
            Ok(job) => job,
            Err(error) => return self::words(&error, &text.text),
        };
        let again = fio::import(&named(fio::export(&job).job), sample().limits);
        let again = again.map_or_else(|error| error.to_string(), |job| job.differences.join("\n"));
        format!("{} {again}", job.loads.len())
    };
    fuzz(&Subject::new("job files", examples, read).fast().with_words(words));
}

/// An imported job can be run, and is the same after export and import.
#[test]
fn fuzz_fio_jobs() {
    let examples = [
        include_str!("../samples/database.fio"),
        include_str!("../samples/ssd.fio"),
        include_str!("../samples/log.fio"),
        include_str!("../samples/sizes.fio"),
        "[]\nrate_iops=2\nrate_process=",
        "[]\nbs=0",
    ];
    let words = &[
        "[global]\n",
        "[a]\n",
        "rw=randrw\n",
        "rw=read:4k\n",
        "bs=4k,8k\n",
        "bssplit=4k/60:8k/\n",
        "iodepth=8\n",
        "ioengine=io_uring\n",
        "numjobs=3\n",
        "rate_iops=100\n",
        "rate=1m\n",
        "fdatasync=1\n",
        "fsync=2\n",
        "random_distribution=zipf:1.1\n",
        "norandommap\n",
        "thinktime=5\n",
        "thinktime_blocks=4\n",
        "size=50%\n",
        "runtime=1m\n",
        "kb_base=1000\n",
        "stonewall\n",
        "startdelay=1\n",
        "ramp_time=5\n",
        "sync=1\n",
        "randseed=5\n",
        "include x\n",
        "${X}",
        "; ",
        "=",
    ];
    let read = |input: &[u8]| {
        let text = named(String::from_utf8_lossy(input));
        let imported = match fio::import(&text, sample().limits) {
            Ok(imported) => imported,
            Err(error) => return self::words(&error, &text.text),
        };
        let job = |text: &str| Job::read(&named(text), &sample()).unwrap_or_else(|error| panic!("{error}: {text}"));
        let first = job(&imported.job);
        let exported = fio::export(&first).job;
        let again = fio::import(&named(exported.clone()), sample().limits);
        let again = job(&again.unwrap_or_else(|error| panic!("{error}: {exported}")).job);
        assert!(again.loads == first.loads && again.seed == first.seed, "{}\n{exported}", imported.job);
        imported.differences.iter().map(|line| line.rsplit(": ").next().unwrap_or_default()).collect()
    };
    fuzz(&Subject::new("fio jobs", examples, read).with_words(words));
}
