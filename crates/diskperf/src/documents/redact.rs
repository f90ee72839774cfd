//! Removes everything from a run that identifies its machine. Works on every string of the document, so that a field
//! that is added later is covered too.
//!
//! Policy:
//!   1. the program has its plain name, not the path that started it;
//!   2. typed paths, also relative ones, and the names of all hosts are removed wherever they occur. Mount options keep
//!      numbers and known settings as values; other values may be addresses or names of users;
//!   3. everything else that looks like a path is removed too, with the serial numbers in names under /dev, and every
//!      UUID;
//!   4. the text of a job file is left out: it may contain anything, and the cells say what was run. The words of a
//!      user's command and its messages are left out too; its name stays;
//!   5. a removed word is replaced by the same word everywhere: two paths stay two paths. Words of the document's own
//!      vocabulary stay.

use std::collections::BTreeSet;
use std::path::Path;

use campaign::presets::COMMAND;
use report::sanitize::SAID;
use serde_json::{Value, json};
use stats::{Document, Name, ParameterValue, Proof, TargetInfo};

use crate::documents::document::{name_of_bytes, read_again, value_of};

/// Fields whose texts and lists of texts are words of the document's own vocabulary, or histograms, which look like
/// paths. Fields inside of other values have entries of their own.
const VOCABULARY: [&str; 23] = [
    "schema",
    "provenance",
    "preset",
    "program",
    "phase",
    "base",
    "unit",
    "kind",
    "what",
    "cache",
    "lower_cache",
    "clock",
    "steadiness",
    "environment",
    "code",
    "effect",
    "operation",
    "histogram",
    "layer",
    "verdict",
    "quantity",
    // The warnings of a comparison, and the state of a check.
    "marks",
    "state",
];

/// Options of the command line whose value is a path, which may be relative.
const TAKES_PATH: [&str; 3] = ["-o", "--output", "--store"];

/// The option whose value may follow without a space: `-omine.json`.
const ATTACHED: &str = "-o";

/// Mount options whose values are words of the kernel: of ext4, xfs, btrfs, f2fs, NFS and SMB.
const KNOWN_OPTIONS: [&str; 18] = [
    "background_gc",
    "cache",
    "compress",
    "compress-force",
    "data",
    "discard",
    "errors",
    "fsync_mode",
    "local_lock",
    "lookupcache",
    "mountproto",
    "mode",
    "proto",
    "reparse",
    "sec",
    "space_cache",
    "vers",
    "xprtsec",
];

/// A copy of the run without anything that identifies its machine.
pub fn anonymous(document: &Document) -> Document {
    let (document, mut hidden) = prepared(document);
    let mut value = value_of(&document).expect("plain data");
    hidden.clean(&mut value, false);
    read_again(&value).expect("only words were changed")
}

/// A copy of the proof without anything that identifies its machine.
pub fn anonymous_proof(proof: &Proof) -> Proof {
    let (run, mut hidden) = prepared(&proof.run);
    let mut value = value_of(&Proof { anonymous: true, run, ..proof.clone() }).expect("plain data");
    hidden.clean(&mut value, false);
    read_again(&value).expect("only words were changed")
}

/// The run without its job file and the words of its command, and the other words to be removed.
fn prepared(document: &Document) -> (Document, Hidden) {
    let mut document = document.clone();
    // 4
    document.run.job = None;
    if document.run.preset.as_deref() == Some(COMMAND.name) {
        without_words(&mut document);
    }
    // 1
    if let Some(program) = document.run.command.first_mut()
        && let Some(name) = Path::new(program).file_name()
    {
        *program = name.to_string_lossy().into_owned();
    }
    let mut hidden = Hidden { known: Vec::new() };
    hidden.known.extend(document.run.name.take().map(|name| (name, "NAME".to_owned())));
    // 2
    hidden.hide_hosts(&document);
    for path in document.run.targets.iter().filter_map(typed_path) {
        hidden.hide(&path);
    }
    for option in document.run.targets.iter_mut().flat_map(|target| &mut target.mount_options) {
        if let Some((name, _)) = option.split_once('=').filter(|(name, value)| !is_number_or_setting(name, value)) {
            *option = format!("{name}=HIDDEN");
        }
    }
    for word in document.run.command.iter().filter(|word| word.len() > ATTACHED.len() && word.starts_with(ATTACHED)) {
        hidden.hide(word);
    }
    let words = &document.run.command;
    for (option, word) in words.iter().zip(words.iter().skip(1)) {
        let (name, value) = word.split_once('=').unwrap_or(("", word));
        let is_of_option = TAKES_PATH.contains(&option.as_str()) || TAKES_PATH.contains(&name);
        if is_of_option || value.starts_with(['/', '.', '~']) && value.contains('/') {
            hidden.hide(value);
        }
    }
    // Whole paths: a path with a space in it is several words.
    let kept = document.run.targets.iter().filter_map(|target| target.image.as_ref()?.kept_as.as_deref());
    for path in kept.chain(document.run.store.as_ref().map(|store| store.path.as_str())) {
        hidden.hide(path);
    }
    let checked = document.run.checks.iter().map(|check| check.target.as_str());
    for path in checked.filter(|target| target.contains('/') || Path::new(target).is_dir()) {
        hidden.hide(path);
    }
    // Longer ones first: one may be the beginning of another.
    hidden.known.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    (document, hidden)
}

/// True if the value of this mount option is a number or a setting of the kernel, and so no address and no user.
fn is_number_or_setting(option: &str, value: &str) -> bool {
    let digits = value.trim_end_matches(['k', 'm', 'g', 'K', 'M', 'G']);
    KNOWN_OPTIONS.contains(&option) || digits.chars().all(|letter| letter.is_ascii_digit())
}

/// The replacement of a command.
const A_COMMAND: &str = "COMMAND";

/// Removes a user's command from its run.
fn without_words(document: &mut Document) {
    let words = &mut document.run.command;
    if let Some(at) = words.iter().position(|word| word == "--") {
        words.truncate(at + 1);
        words.push(A_COMMAND.to_owned());
    }
    let mut is_next = false;
    for word in words {
        if std::mem::replace(&mut is_next, word == "--prepare") {
            A_COMMAND.clone_into(word);
        } else if word.starts_with("--prepare=") {
            *word = format!("--prepare={A_COMMAND}");
        }
    }
    for cell in &mut document.cells {
        for name in ["command", "prepare"] {
            let words = cell.parameters.get_mut(name);
            words.into_iter().for_each(|words| *words = ParameterValue::Word(A_COMMAND.to_owned()));
        }
    }
    let reasons = document
        .cells
        .iter_mut()
        .flat_map(|cell| cell.reason.iter_mut().chain(cell.marks.iter_mut().map(|mark| &mut mark.text)));
    for told in reasons.chain(document.errors.iter_mut().map(|problem| &mut problem.message)) {
        told.truncate(told.find(SAID).unwrap_or(told.len()));
    }
}

/// The path in the argument of a target; `None` for simulated machines, images, `.`, `..` and `/`.
fn typed_path(target: &TargetInfo) -> Option<String> {
    let own = target.own_argument();
    let own = own.split(",tune=").next().unwrap_or(own);
    let own = own.strip_prefix("file:").unwrap_or(own);
    let is_path = !target.is_simulated() && !own.starts_with("image:") && ![".", "..", "/"].contains(&own);
    is_path.then(|| own.to_owned())
}

/// The removed words, with their replacements.
struct Hidden {
    known: Vec<(String, String)>,
}

impl Hidden {
    /// Hides the names of all hosts: `HOST`, `HOST2`, `HOST3`. Two hosts may have one name.
    fn hide_hosts(&mut self, document: &Document) {
        let mut names = vec![document.run.host.as_str()];
        names.extend(document.run.hosts.iter().map(|host| host.name.as_str()));
        let mut seen = BTreeSet::new();
        names.retain(|name| !name.is_empty() && seen.insert(*name));
        for (number, name) in (1_usize..).zip(names) {
            let number = if number == 1 { String::new() } else { number.to_string() };
            self.known.push((name.to_owned(), format!("HOST{number}")));
        }
    }

    fn hide(&mut self, word: &str) -> String {
        if let Some((_, instead)) = self.known.iter().find(|(known, _)| known == word) {
            return instead.clone();
        }
        let instead = format!("PATH{}", self.known.len() + 1);
        self.known.push((word.to_owned(), instead.clone()));
        instead
    }

    /// Removes the words from a value, but from its own text only if it is not vocabulary.
    fn clean(&mut self, value: &mut Value, is_vocabulary: bool) {
        match value {
            Value::String(text) if !is_vocabulary => *text = self.cleaned(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.clean(value, is_vocabulary)),
            Value::Object(fields) => {
                if let Some(name) = name_of_bytes(fields) {
                    *value = json!(Name::new(&self.cleaned(&name)));
                    return;
                }
                fields.iter_mut().for_each(|(name, value)| self.clean(value, VOCABULARY.contains(&name.as_str())));
            }
            _ => {}
        }
    }

    fn cleaned(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (word, instead) in &self.known {
            text = replaced(&text, word, instead);
        }
        // 3
        let mut cleaned = String::new();
        for piece in text.split_inclusive(is_between) {
            let word = piece.trim_end_matches(is_between);
            let rest = &piece[word.len()..];
            if looks_like_path(word) {
                cleaned += &self.hide(word);
            } else if is_uuid(word) {
                cleaned += "UUID";
            } else {
                cleaned += word;
            }
            cleaned += rest;
        }
        cleaned
    }
}

/// True for a character between words.
fn is_between(character: char) -> bool {
    character.is_whitespace() || ",;=+:()[]'\"`".contains(character)
}

/// True for paths, but not for `MiB/s` and `p50 / p99`.
fn looks_like_path(word: &str) -> bool {
    word.len() > 1
        && (word.starts_with('/') || word.starts_with("./") || word.starts_with("../") || word.starts_with("~/"))
}

/// True for 8-4-4-4-12 hexadecimal digits.
fn is_uuid(word: &str) -> bool {
    let groups: Vec<&str> = word.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Replaces a word by another, if it is a whole word or the beginning of a path.
fn replaced(text: &str, word: &str, instead: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word).filter(|_| !word.is_empty()) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let part = |character: char| character.is_alphanumeric() || "_-./".contains(character);
        let begins = !before.chars().next_back().or(out.chars().next_back()).is_some_and(part);
        // A full stop may end a sentence.
        let ends = !after.chars().next().is_some_and(|next| part(next) && next != '/' && next != '.');
        out += before;
        out += if begins && ends { instead } else { word };
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_replaced() {
        for (text, expected) in [
            ("there is no bob", "there is no X"),
            ("bob/.diskperf-1 bob.", "X/.diskperf-1 X."),
            ("bobby kebob a/bob bob-2", "bobby kebob a/bob bob-2"),
            ("bobbob bob", "bobbob X"),
        ] {
            assert_eq!(replaced(text, "bob", "X"), expected);
        }
    }

    #[test]
    fn mount_options_keep_numbers_and_known_settings() {
        for (option, value) in [("data", "journal"), ("rsize", "1048576"), ("logbsize", "256k"), ("vers", "4.2")] {
            assert!(is_number_or_setting(option, value), "{option}");
        }
        for (option, value) in
            [("addr", "10.1.2.3"), ("username", "eve"), ("lowerdir", "/home/eve"), ("addr", "fe80::1")]
        {
            assert!(!is_number_or_setting(option, value), "{option}");
        }
    }

    #[test]
    fn files_attached_to_an_option_are_removed() {
        let (mut run, mut target) = (stats::RunInfo::default(), TargetInfo::default());
        run.command = ["diskperf", "proof", "-omine.json"].map(str::to_owned).into();
        target.argument = ".".to_owned();
        target.mount_options = ["rw", "addr=10.1.2.3", "vers=4.2"].map(str::to_owned).into();
        run.targets = vec![target];
        let document = Document { schema: stats::SCHEMA.to_owned(), run, cells: Vec::new(), errors: Vec::new() };
        let hidden = anonymous(&document).run;
        assert_eq!(hidden.command, ["diskperf", "proof", "PATH1"]);
        assert_eq!(hidden.targets[0].mount_options, ["rw", "addr=HIDDEN", "vers=4.2"]);
    }

    #[test]
    fn the_names_of_all_hosts_are_removed() {
        let mut run = stats::RunInfo { host: "node1".to_owned(), ..stats::RunInfo::default() };
        let host = |name: &str| stats::HostInfo { name: name.to_owned(), ..stats::HostInfo::default() };
        run.hosts = ["node1", "node10", "node2", "node2"].map(host).into();
        run.findings = vec!["node10 is slower than node2 and node1".to_owned()];
        let document = Document { schema: stats::SCHEMA.to_owned(), run, cells: Vec::new(), errors: Vec::new() };
        let hidden = anonymous(&document).run;
        let names: Vec<&str> = hidden.hosts.iter().map(|host| host.name.as_str()).collect();
        assert_eq!((hidden.host.as_str(), names), ("HOST", vec!["HOST", "HOST2", "HOST3", "HOST3"]));
        assert_eq!(hidden.findings, ["HOST2 is slower than HOST3 and HOST"]);
    }

    /// A removed word may also be a value of an enumeration. If it was replaced there, the document could not be read.
    #[test]
    fn values_of_enumerations_stay() {
        let schemas = [
            include_str!("../../../../docs/reference/schema/run.json"),
            include_str!("../../../../docs/reference/schema/doctor.json"),
            include_str!("../../../../docs/reference/schema/verify.json"),
        ];
        let mut keys = BTreeSet::new();
        for schema in schemas {
            let schema: Value = serde_json::from_str(schema).expect("a schema");
            let Some(types) = schema["$defs"].as_object() else { continue };
            let is_value = |one: &Value| one["const"].is_string() || one["enum"].is_array();
            let is_enumeration =
                |one: &Value| is_value(one) || one["oneOf"].as_array().is_some_and(|all| all.iter().all(is_value));
            let references: Vec<String> = types
                .iter()
                .filter(|(_, one)| is_enumeration(one))
                .map(|(name, _)| json!(format!("#/$defs/{name}")).to_string())
                .collect();
            let fields = types.values().chain([&schema]).filter_map(|one| one["properties"].as_object()).flatten();
            for (key, field) in fields {
                let field = field.to_string();
                if references.iter().any(|reference| field.contains(reference)) {
                    keys.insert(key.clone());
                }
            }
        }
        assert!(keys.len() >= 15, "{keys:?}");
        keys.retain(|key| !VOCABULARY.contains(&key.as_str()));
        assert_eq!(keys, BTreeSet::new());
    }

    #[test]
    fn a_run_may_have_the_name_of_a_verdict_or_of_a_warning() {
        let text = include_str!("../../../../docs/choice.json");
        let mut document: Document = serde_json::from_str(text).expect("a document");
        document.run.name = Some("faster".to_owned());
        let verdicts = |document: &Document| {
            let choice = document.run.choice.as_ref().expect("a choice");
            choice.comparisons.iter().map(|pair| pair.verdict).collect::<Vec<_>>()
        };
        let hidden = anonymous(&document);
        assert_eq!((hidden.run.name.as_deref(), verdicts(&hidden)), (None, verdicts(&document)));
        let known = [("no", "PATH1"), ("cache", "NAME")].map(|(word, instead)| (word.to_owned(), instead.to_owned()));
        let mut value = json!([
            { "state": "no", "marks": ["cache"] },
            { "state": { "cache": "cold", "unverified": "no device" } },
            { "marks": [{ "code": "cache", "text": "no cache" }] },
        ]);
        Hidden { known: known.into() }.clean(&mut value, false);
        let expected = json!([
            { "state": "no", "marks": ["cache"] },
            { "state": { "cache": "cold", "unverified": "PATH1 device" } },
            { "marks": [{ "code": "cache", "text": "PATH1 NAME" }] },
        ]);
        assert_eq!(value, expected);
    }

    #[test]
    fn paths_and_serial_numbers_are_removed() {
        let mut hidden = Hidden { known: vec![("my disk".to_owned(), "PATH1".to_owned())] };
        for (text, expected) in [
            ("1,090 MiB/s; p50 / p99", "1,090 MiB/s; p50 / p99"),
            ("on my disk", "on PATH1"),
            ("image:ext4,dir=/home/eve/x", "image:ext4,dir=PATH2"),
            ("a=/dev/disk/by-id/ata-SERIAL b=/home/eve/x", "a=PATH3 b=PATH2"),
            ("UUID 0d1cd1ea-5b5e-4b9c-9a8e-1f2e3d4c5b6a", "UUID UUID"),
            ("~/x ./y ../z . .. /", "PATH4 PATH5 PATH6 . .. /"),
        ] {
            assert_eq!(hidden.cleaned(text), expected);
        }
        let mut names = json!([{ "bytes": "2f686f6d652fff" }, { "bytes": "61ff3d2f686f6d652fff" }]);
        hidden.clean(&mut names, false);
        assert_eq!(names, json!(["PATH7", { "bytes": "61ff3d5041544837" }]));
    }
}
