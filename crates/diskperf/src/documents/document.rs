//! Reads a run's document from the database, a file or standard input. It must be complete, small enough and of this
//! version; otherwise the error says what it is instead.

use std::borrow::Cow;
use std::path::Path;

use campaign::presets;
use kernel::sys::name::Shown;
use report::Presentation;
use report::sanitize::{escape, is_command, line};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use serde_json::{Map, Value, json};
use stats::compare::history::{HISTORY_SCHEMA, History};
use stats::{Document, Name, PROOF_SCHEMA, SCHEMA, VERIFICATION_SCHEMA, Verification};
use units::name;

use crate::documents::document_error::{DocumentFault, LARGEST};
use crate::documents::store_arguments::StoreArguments;
use crate::documents::user_files;
use crate::error::{Error, RunsError};

/// The mark at the beginning of a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The document of a stored run, or the only one in a file.
pub fn named(run: &Path, store: &StoreArguments) -> Result<Document, Error> {
    Ok(only(name_of(run), all_named(run, store)?)?)
}

/// The document of a stored run, or all documents in a file.
pub fn all_named(run: &Path, store: &StoreArguments) -> Result<Vec<Document>, Error> {
    match stored_name(run).map(|name| store.load(name)) {
        // Without a database, the argument can only be a file.
        None | Some(Err(Error::Runs(RunsError::NothingIsStored(_) | RunsError::NowhereToStore))) => read(run),
        Some(loaded) => Ok(vec![loaded?]),
    }
}

fn only(name: String, runs: Vec<Document>) -> Result<Document, DocumentFault> {
    let one = <[Document; 1]>::try_from(runs);
    one.map(|[run]| run).map_err(|runs| DocumentFault::SeveralRuns { name, count: runs.len() })
}

/// A result file that `report` reads.
pub enum Readable {
    Runs(Vec<Document>),
    /// The history of tests over all stored runs.
    History(Both<History>),
    /// The result of power cuts.
    Verification(Box<Both<Verification>>),
}

/// A document as it was read, and the same with its control characters escaped.
pub struct Both<T> {
    pub original: T,
    pub plain: T,
}

/// A stored run, or the runs, history or verification in a file.
pub fn readable(run: &Path, store: &StoreArguments) -> Result<Readable, Error> {
    match stored_name(run).map(|name| store.load(name)) {
        None | Some(Err(Error::Runs(RunsError::NothingIsStored(_) | RunsError::NowhereToStore))) => {}
        Some(loaded) => return Ok(Readable::Runs(vec![loaded?])),
    }
    let (name, bytes) = (name_of(run), user_files::bytes(run, LARGEST)?);
    Ok(match schema_of(bytes.as_deref().unwrap_or_default()).as_deref() {
        Some(HISTORY_SCHEMA) => Readable::History(other(name, HISTORY_SCHEMA, &bytes.unwrap_or_default())?),
        Some(VERIFICATION_SCHEMA) => {
            let both = other(name, VERIFICATION_SCHEMA, &bytes.unwrap_or_default())?;
            Readable::Verification(Box::new(both))
        }
        _ => Readable::Runs(parse(&name, bytes.as_deref())?),
    })
}

/// The name and version of the format; `None` if this is not a document.
fn schema_of(bytes: &[u8]) -> Option<String> {
    /// The part that all documents have.
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    serde_json::from_slice::<Head>(bytes).ok().map(|head| head.schema)
}

/// A document that is not a run.
fn other<T: DeserializeOwned>(name: String, schema: &'static str, bytes: &[u8]) -> Result<Both<T>, DocumentFault> {
    let read = |bytes: &[u8]| {
        serde_json::from_slice(bytes).map_err(|error| {
            let (name, why) = (name.clone(), error.to_string());
            DocumentFault::Unfit { name, schema, why, written_by: None }
        })
    };
    let original = read(bytes)?;
    let mut value: Value = serde_json::from_slice(bytes).unwrap_or_default();
    make_plain(&mut value);
    Ok(Both { original, plain: read(value.to_string().as_bytes())? })
}

/// The display name of a document: the id of a stored run, otherwise the path as typed.
pub fn display_name(run: &Path, document: &Document) -> String {
    match (&document.run.store, run.to_str()) {
        (_, Some("-")) => "standard input".to_owned(),
        (Some(store), _) if stored_name(run).is_some() => store.run.clone(),
        _ => run.shown().into_owned(),
    }
}

/// The name, if it can be that of a stored run: no name has a dot or a slash, and an existing file is meant as a file.
/// A directory is no result, so it does not hide a run of the same name.
pub fn stored_name(run: &Path) -> Option<&str> {
    let is_file = || run.exists() && !run.is_dir();
    run.to_str().filter(|name| *name != "-" && !name.contains(['.', '/']) && !is_file())
}

/// Reads the documents of a file; `-` is standard input.
fn read(path: &Path) -> Result<Vec<Document>, Error> {
    Ok(parse(&name_of(path), user_files::bytes(path, LARGEST)?.as_deref())?)
}

fn name_of(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.shown().to_string() }
}

/// The presentation of a document, which its preset chooses.
pub fn presentation(document: &Document) -> Presentation {
    presets::presentation(document.run.preset.as_deref())
}

/// The document for people: control characters are escaped in all of its words.
pub fn plain(document: &Document) -> Cow<'_, Document> {
    if is_plain_ascii(document) {
        return Cow::Borrowed(document);
    }
    let mut value = value_of(document).expect("plain data");
    if !make_plain(&mut value) {
        return Cow::Borrowed(document);
    }
    read_again(&value).map_or(Cow::Borrowed(document), Cow::Owned)
}

/// True if no word of the document has a character that a terminal may obey, which is nearly always so. Checks each
/// cell by itself, because the text of all may have hundreds of megabytes.
fn is_plain_ascii(document: &Document) -> bool {
    // JSON has a backslash before everything that it escapes; DEL is not escaped.
    let is_plain = |json: serde_json::Result<Vec<u8>>| {
        json.is_ok_and(|json| json.is_ascii() && !json.contains(&b'\\') && !json.contains(&b'\x7f'))
    };
    let Document { schema, run, cells, errors } = document;
    is_plain(serde_json::to_vec(&(schema, run, errors))) && cells.iter().all(|cell| is_plain(serde_json::to_vec(cell)))
}

/// Plain data as a value whose words can be changed. It is converted through text: otherwise the program would need a
/// second copy of the code that writes a document.
pub fn value_of(data: &impl Serialize) -> serde_json::Result<Value> {
    serde_json::from_slice(&serde_json::to_vec(data)?)
}

/// The data of such a value. It is converted through text, for the same reason.
pub fn read_again<T: DeserializeOwned>(value: &Value) -> serde_json::Result<T> {
    serde_json::from_slice(&serde_json::to_vec(value)?)
}

/// Escapes control characters. Returns whether anything was changed.
fn make_plain(value: &mut Value) -> bool {
    match value {
        Value::String(text) if text.contains(is_command) => {
            *text = line(text).into_owned();
            true
        }
        Value::Array(values) => values.iter_mut().fold(false, |is_changed, value| make_plain(value) | is_changed),
        Value::Object(fields) => {
            if let Some(name) = name_of_bytes(fields) {
                let is_odd = |letter: char| is_command(letter) && name::byte(letter).is_none();
                let shown = |letter| if is_odd(letter) { escape(letter) } else { letter.to_string() };
                // It stays a name of bytes, which are escaped when it is printed: as text it would be another name.
                *value = json!(Name::new(&name.chars().map(shown).collect::<String>()));
                return name.contains(is_odd);
            }
            let mut is_changed = fields.values_mut().fold(false, |is_changed, value| make_plain(value) | is_changed);
            if fields.keys().any(|key| key.contains(is_command)) {
                *fields =
                    std::mem::take(fields).into_iter().map(|(key, value)| (line(&key).into_owned(), value)).collect();
                is_changed = true;
            }
            is_changed
        }
        _ => false,
    }
}

/// The text of a name that is not UTF-8, if these are the fields of such a name.
pub fn name_of_bytes(fields: &Map<String, Value>) -> Option<String> {
    let bytes = fields.get("bytes").filter(|bytes| fields.len() == 1 && bytes.is_string())?;
    Name::deserialize(&json!({ "bytes": bytes })).ok()?.text()
}

/// Parses a document, or several in an array. Otherwise, the error says what the bytes are:
///   1. empty, or too large;
///   2. not JSON, or truncated JSON;
///   3. JSON of another program, or of another version;
///   4. JSON that names this version, but does not fit it.
fn parse(name: &str, bytes: Option<&[u8]>) -> Result<Vec<Document>, DocumentFault> {
    let name = name.to_owned();
    // 1
    let Some(bytes) = bytes else { return Err(DocumentFault::TooLarge(name)) };
    // Editors of Windows put it there; job files may have it too.
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(DocumentFault::Empty(name));
    }
    let why = match serde_json::from_slice::<Document>(bytes) {
        Ok(document) if document.schema == SCHEMA => return Ok(vec![document]),
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    // `export` prints an array, also of one run.
    match serde_json::from_slice::<Vec<serde::de::IgnoredAny>>(bytes).as_deref() {
        Ok([_]) => {
            let inner = bytes.trim_ascii();
            return parse(&name, Some(inner[1..inner.len() - 1].trim_ascii()));
        }
        Ok([_, _, ..]) => return parse_each(&name, bytes),
        _ => {}
    }
    // A proof has a run in it.
    if schema_of(bytes).as_deref() == Some(PROOF_SCHEMA)
        && let Ok(Value::Object(mut proof)) = serde_json::from_slice(bytes)
        && let Some(run) = proof.remove("run")
    {
        return parse(&name, Some(run.to_string().as_bytes()));
    }
    // 2
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) if error.classify() == Category::Eof => {
            return Err(DocumentFault::CutShort { name, line: error.line() });
        }
        Err(error) => return Err(DocumentFault::NotJson { name, why: error.to_string() }),
    };
    // 3
    let written_by = value["run"]["version"].as_str().map(str::to_owned);
    let family = SCHEMA.split_once('/').map_or(SCHEMA, |(family, _)| family);
    match value["schema"].as_str() {
        // 4
        Some(SCHEMA) => Err(DocumentFault::Unfit { name, schema: SCHEMA, why, written_by }),
        Some(schema) if schema.split('/').next() == Some(family) => {
            Err(DocumentFault::OtherVersion { name, schema: schema.to_owned(), written_by })
        }
        _ => Err(DocumentFault::NotOurs(name)),
    }
}

/// Parses the documents of an array. The error is about the first element that is not a document.
fn parse_each(name: &str, array: &[u8]) -> Result<Vec<Document>, DocumentFault> {
    if let Ok(runs) = serde_json::from_slice::<Vec<Document>>(array)
        && runs.iter().all(|run| run.schema == SCHEMA)
    {
        return Ok(runs);
    }
    let values: Vec<Value> = serde_json::from_slice(array).unwrap_or_default();
    let each = values.iter().map(|value| parse(name, Some(value.to_string().as_bytes())));
    Ok(each.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Parses bytes as one document, for fuzzing.
#[cfg(test)]
pub fn fuzzed(bytes: &[u8]) -> Result<Document, DocumentFault> {
    only("x".to_owned(), parse("x", Some(bytes))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_documents_are_named_by_their_content() {
        let said = |text: &str| parse("x", Some(text.as_bytes())).expect_err("no document").to_string();
        for (text, expected) in [
            (" \n", "x is empty"),
            ("read_8192  1,090 MiB/s\n", "x is not JSON: expected value at line 1 column 1"),
            ("{\n\"schema\": \"diskperf/1\", \"ru", "x is truncated at line 2"),
            ("{\"fio version\": \"fio-3.36\"}", "x is JSON, but not a results file of diskperf"),
            ("[]", "x is JSON, but not a results file of diskperf"),
            ("[1, 2]", "x is JSON, but not a results file of diskperf"),
            ("{\"schema\": \"diskperf/2\"}", "x has the version diskperf/2; this build reads diskperf/1"),
            ("{\"schema\": \"diskperf/1\"}", "x is not valid diskperf/1: missing field `run` at line 1 column 24"),
        ] {
            assert_eq!(said(text), expected);
        }
        let unfit = other::<History>("x".to_owned(), HISTORY_SCHEMA, b"{\"schema\": \"diskperf-history/1\"}");
        assert!(matches!(unfit, Err(DocumentFault::Unfit { schema: HISTORY_SCHEMA, .. })));
        assert!(matches!(parse("x", None), Err(DocumentFault::TooLarge(_))));
    }

    #[test]
    fn files_of_several_runs_are_read_whole_or_named_by_their_fault() {
        let run = include_str!("../../../../docs/quick.json");
        let count = |text: &str| parse("x", Some(text.as_bytes())).map(|runs| runs.len());
        assert!(matches!(count(&format!("\u{FEFF}{run}")), Ok(1)));
        assert!(matches!(count(&format!(" [{run},\n{run}]\n")), Ok(2)));
        assert!(matches!(count(&format!("[[{run}], {run}, {run}]")), Ok(3)));
        let several = fuzzed(format!("[{run}, {run}]").as_bytes()).expect_err("which run?");
        assert_eq!(several.to_string(), "x has 2 runs, and this command reads one");
        let other = count(&format!("[{run}, {{\"schema\": \"diskperf/2\"}}]")).expect_err("another version");
        assert!(matches!(other, DocumentFault::OtherVersion { .. }), "{other}");
    }

    #[test]
    fn a_directory_does_not_hide_a_run() {
        // Tests run in the directory of the package.
        let names = ["src", "no-such-run", "-", "src/lib.rs", "Cargo.toml"].map(|name| stored_name(Path::new(name)));
        assert_eq!(names, [Some("src"), Some("no-such-run"), None, None, None]);
    }

    #[test]
    fn control_characters_of_documents_are_removed() {
        let mut document: Document =
            serde_json::from_str(include_str!("../../../../docs/quick.json")).expect("a document");
        assert!(matches!(plain(&document), Cow::Borrowed(_)));
        document.run.host = "a\u{1b}[2J\nb".to_owned();
        document.cells[0].target = "\u{202e}".to_owned();
        for word in ["\u{7f}", "\u{1b}", "\u{9b}"] {
            let mut alone = document.clone();
            alone.cells.clear();
            alone.run.host = word.to_owned();
            assert!(!plain(&alone).run.host.contains(word), "{word:?}");
        }
        let shown = plain(&document);
        assert_eq!((shown.run.host.as_str(), shown.cells[0].target.as_str()), ("a\\u{1b}[2J\\nb", "\\u{202e}"));
        assert_eq!(shown.cells[1..], document.cells[1..]);
    }
}
