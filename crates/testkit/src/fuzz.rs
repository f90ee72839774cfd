//! Fuzzing on stable Rust: a parser of untrusted input is fed real examples with random changes.
//!
//! Policy, for each subject:
//!   1. its examples come first, unchanged. They include inputs that once failed, so that those failures stay fixed;
//!   2. then known inputs with a few changes follow, until the number of inputs is reached or the time is over. A
//!      change flips a bit, removes or repeats a part, takes a part from another input, or inserts a word of its
//!      language or a number at the limit of its type;
//!   3. an input with a new outcome becomes a known input. Outcomes replace the coverage that other fuzzers use and
//!      that stable Rust does not report;
//!   4. a panic fails the test, with the shortest input found that causes it. A call that takes longer than two minutes
//!      ends the process, with its input.
//!
//! The same seed produces the same inputs. A subject is a test called `fuzz_...`, next to the code that it tests.

use std::any::Any;
use std::collections::HashSet;
use std::env;
use std::fmt::Write;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::process;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// The environment variable with the seconds for which each subject is fed.
pub const SECONDS: &str = "DISKPERF_FUZZ_SECONDS";

/// The environment variable with the seed.
pub const SEED: &str = "DISKPERF_FUZZ_SEED";

/// The number of inputs of a subject if no time is given: the same ones on every machine. Subjects that read about 300
/// per second unoptimised take some seconds. `cargo xtask prove` feeds each subject for a minute.
const USUAL: u64 = 1000;

/// The number of inputs of a fast subject: at most three seconds at 4000 per second unoptimised.
const MANY: u64 = 10_000;

/// The number of inputs of a slow subject: about five seconds at 50 per second unoptimised.
const FEW: u64 = 250;

/// The longest call. All inputs are small, so a call that takes longer hangs, even on a busy machine.
const SLOW: Duration = Duration::from_secs(120);

/// The end of a subject's test.
#[derive(Clone, Copy, Debug)]
enum End {
    /// After this many inputs.
    Inputs(u64),
    /// After this time.
    Time(Duration),
}

impl End {
    fn has_come(self, inputs: u64, elapsed: Duration) -> bool {
        match self {
            End::Inputs(most) => inputs >= most,
            End::Time(time) => elapsed >= time,
        }
    }
}

/// The most known inputs, and the most bytes of an input unless an example is longer.
const KNOWN: usize = 2000;
const LONGEST: usize = 1 << 16;

/// Numbers at the limits of types.
const NUMBERS: [&str; 20] = [
    "0",
    "1",
    "-1",
    "127",
    "128",
    "255",
    "256",
    "32768",
    "65535",
    "65536",
    "2147483647",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "0.0000000001",
    "99999999999999999999999999",
];

/// Bytes with a meaning in some format.
const BYTES: [u8; 20] = *b"\0\x01\x1b\x7f\xff\x80\n\r\t \"'\\/:=,.[{";

/// Reads an input and returns its outcome.
type Read = dyn Fn(&[u8]) -> String + Send + Sync;

/// A parser to be fuzzed.
pub struct Subject {
    name: &'static str,
    examples: Vec<Vec<u8>>,
    words: &'static [&'static str],
    inputs: u64,
    read: Box<Read>,
}

impl Subject {
    /// A subject with its name, examples and parser. `read` panics if a condition is violated, and returns the outcome
    /// of the input in a few words.
    pub fn new<E: AsRef<[u8]>>(
        name: &'static str,
        examples: impl IntoIterator<Item = E>,
        read: impl Fn(&[u8]) -> String + Send + Sync + 'static,
    ) -> Subject {
        let examples = examples.into_iter().map(|example| example.as_ref().to_owned()).collect();
        Subject { name, examples, words: &[], inputs: USUAL, read: Box::new(read) }
    }

    /// Adds words that are inserted into inputs.
    pub fn with_words(self, words: &'static [&'static str]) -> Subject {
        Subject { words, ..self }
    }

    /// Marks the subject as fast: it gets ten times as many inputs.
    pub fn fast(self) -> Subject {
        Subject { inputs: MANY, ..self }
    }

    /// Marks the subject as slow: it gets a quarter of the inputs.
    pub fn slow(self) -> Subject {
        Subject { inputs: FEW, ..self }
    }

    /// Returns the outcome of an input, or the message of the panic.
    fn outcome(&self, input: &[u8]) -> Result<String, String> {
        let said = |panic: Box<dyn Any + Send>| {
            let text = panic.downcast_ref::<String>().cloned();
            text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
        };
        panic::catch_unwind(AssertUnwindSafe(|| (self.read)(input))).map_err(said)
    }
}

/// The input that is being read.
#[derive(Debug)]
struct Reading {
    began: Instant,
    input: Vec<u8>,
}

/// Feeds the subject, and prints the number of inputs as a line of JSON. Panics if the subject panicked.
pub fn fuzz(subject: &Subject) {
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let end = number(SECONDS).map_or(End::Inputs(subject.inputs), |seconds| End::Time(Duration::from_secs(seconds)));
    if let Err(failure) = feed(subject, end, number(SEED).unwrap_or(1)) {
        panic!("{failure}");
    }
}

/// Feeds the subject in a thread, and watches the time of each call.
fn feed(subject: &Subject, end: End, seed: u64) -> Result<(), String> {
    let reading: Mutex<Option<Reading>> = Mutex::new(None);
    thread::scope(|scope| {
        let worker = scope.spawn(|| worked(subject, end, seed, &reading));
        while !worker.is_finished() {
            thread::sleep(Duration::from_millis(20));
            if let Some(slow) = &*reading.lock().expect("the worker does not panic")
                && slow.began.elapsed() > SLOW
            {
                eprintln!("{} reads for longer than {SLOW:?}: {}", subject.name, shown(subject.name, &slow.input));
                process::exit(101);
            }
        }
        worker.join().expect("the worker does not panic")
    })
}

fn worked(subject: &Subject, end: End, seed: u64, reading: &Mutex<Option<Reading>>) -> Result<(), String> {
    let began = Instant::now();
    let longest = subject.examples.iter().map(Vec::len).max().unwrap_or(0).max(LONGEST);
    let mut random = Random(
        seed ^ subject.name.bytes().fold(0, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte))),
    );
    let mut known: Vec<Vec<u8>> = Vec::new();
    let mut kinds = HashSet::new();
    let mut inputs = 0_u64;
    while inputs < subject.examples.len() as u64 || !end.has_come(inputs, began.elapsed()) {
        // 1. and 2.
        let input = match subject.examples.get(inputs as usize) {
            Some(example) => example.clone(),
            None => changed(&known, subject.words, longest, &mut random),
        };
        inputs += 1;
        let set = |now| *reading.lock().expect("nobody panics") = now;
        set(Some(Reading { began: Instant::now(), input: input.clone() }));
        let outcome = subject.outcome(&input);
        set(None);
        match outcome {
            // 3.
            Ok(outcome) => {
                let is_new = kinds.insert(kind(&outcome));
                if known.len() < subject.examples.len() || is_new && known.len() < KNOWN {
                    known.push(input);
                }
            }
            // 4.
            Err(said) => {
                let shortest = shortened(subject, input);
                return Err(format!("{}: {said}: {}", subject.name, shown(subject.name, &shortest)));
            }
        }
    }
    let (name, kinds, seconds) = (subject.name, kinds.len(), began.elapsed().as_secs_f64());
    println!("{{\"fuzzed\":\"{name}\",\"inputs\":{inputs},\"outcomes\":{kinds},\"seconds\":{seconds:.1}}}");
    Ok(())
}

/// Reduces an outcome to its kind: quotations and digits are removed.
fn kind(outcome: &str) -> String {
    let pieces = outcome.split(['"', '\'', '`']).step_by(2);
    let letters = pieces.flat_map(|piece| piece.chars().filter(|c| !c.is_ascii_digit()));
    letters.take(120).collect()
}

/// Returns a known input, changed in a few places.
fn changed(known: &[Vec<u8>], words: &[&str], longest: usize, random: &mut Random) -> Vec<u8> {
    let Some(one) = random.choose(known) else { return Vec::new() };
    let mut input = one.clone();
    for _ in 0..=random.below(4) {
        let length = input.len();
        let from = random.below(length + 1);
        let to = from + random.below((length - from).min(64) + 1);
        match random.below(10) {
            0 if from < length => input[from] ^= 1 << random.below(8),
            1 if from < length => input[from] = *random.choose(&BYTES).unwrap_or(&0),
            2 => drop(input.drain(from..to)),
            3 => drop(input.splice(from..from, one[from.min(one.len())..to.min(one.len())].to_owned())),
            4 | 5 => {
                let word = random.choose(words).copied().unwrap_or_default().as_bytes();
                input.splice(from..if random.below(2) == 0 { from } else { to }, word.iter().copied());
            }
            6 => {
                let other = random.choose(known).unwrap_or(one);
                input.truncate(from);
                input.extend(&other[random.below(other.len() + 1)..]);
            }
            7 => input.truncate(from),
            8 => number(&mut input, from, random),
            _ => {
                // A number as binary formats store it.
                let value = 1_u64.wrapping_shl(random.below(64) as u32).wrapping_sub(random.below(2) as u64);
                let bytes = if random.below(2) == 0 { value.to_le_bytes() } else { value.to_be_bytes() };
                let width = 1 << random.below(4);
                input.iter_mut().skip(from).zip(&bytes[..width]).for_each(|(byte, new)| *byte = *new);
            }
        }
        input.truncate(longest);
    }
    input
}

/// Replaces the next number from this index on by another one.
fn number(input: &mut Vec<u8>, from: usize, random: &mut Random) {
    let Some(begin) = input[from..].iter().position(u8::is_ascii_digit).map(|at| from + at) else { return };
    let digits = input[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = random.choose(&NUMBERS).copied().unwrap_or_default();
    input.splice(begin..begin + digits, number.bytes());
}

/// Returns the input without the parts that the panic does not need, as far as a few seconds allow.
fn shortened(subject: &Subject, mut input: Vec<u8>) -> Vec<u8> {
    let began = Instant::now();
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let mut piece = input.len().next_power_of_two() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < input.len() && began.elapsed() < Duration::from_secs(5) {
            let mut shorter = input.clone();
            shorter.drain(at..(at + piece).min(input.len()));
            if subject.outcome(&shorter).is_err() { input = shorter } else { at += piece }
        }
        piece /= 2;
    }
    panic::set_hook(hook);
    input
}

/// Returns an input as a test would write it. A longer one is cut off and stored in a file that is named.
fn shown(name: &str, input: &[u8]) -> String {
    const SHOWN: usize = 2000;
    let mut text = format!("b\"{}\"", input[..input.len().min(SHOWN)].escape_ascii());
    if input.len() > SHOWN {
        let path = env::temp_dir().join(format!("diskperf-fuzz-{}-{}", name.replace([' ', '/'], "-"), process::id()));
        let _ = match fs::write(&path, input) {
            Ok(()) => write!(text, "..., {} bytes, all of them in {}", input.len(), path.display()),
            Err(error) => write!(text, "..., {} bytes, which could not be kept: {error}", input.len()),
        };
    }
    text
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }

    fn choose<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }
}

/// Asserts that a message is no longer than a screen and a few copies of its input: people read it.
#[track_caller]
pub fn assert_bounded(said: &str, input: &str) {
    assert!(said.len() <= 3000 + 4 * input.len(), "{} bytes are said of {}", said.len(), input.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_found_stepwise_and_minimized() {
        // Chance does not find five letters at once; each letter gives a new outcome.
        let read = |input: &[u8]| {
            let right = input.iter().zip(b"wrong").take_while(|(byte, letter)| byte == letter).count();
            assert!(right < 5, "found");
            right.to_string().replace(char::is_numeric, "x").repeat(right)
        };
        let subject = Subject::new("letters", ["w", "a beginning"], read).with_words(&["r", "o", "n", "g"]);
        assert_eq!(feed(&subject, End::Inputs(1_000_000), 1), Err("letters: found: b\"wrong\"".to_owned()));
    }

    #[test]
    fn examples_are_tried_first_and_correct_readers_never_fail() {
        static SEEN: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
        let read = |input: &[u8]| {
            let mut seen = SEEN.lock().expect("no panic");
            if seen.len() < 100 {
                seen.push(input.to_owned());
            }
            String::new()
        };
        assert_eq!(feed(&Subject::new("everything", ["one 1", "two 2"], read), End::Inputs(1000), 1), Ok(()));
        let seen = SEEN.lock().expect("no panic");
        assert_eq!(seen[..2], [b"one 1".to_vec(), b"two 2".to_vec()]);
        let different: HashSet<&Vec<u8>> = seen.iter().collect();
        assert!(different.len() > 50, "{}", different.len());
    }
}
