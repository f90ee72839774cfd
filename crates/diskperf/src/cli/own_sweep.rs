//! `io --iodepth 1..128*2`: options of a workload with several values each. The words of such options are taken out,
//! and become one hidden option with all of them. The same holds for the words behind `io` in a call of `choose`.

use std::ffi::OsString;

use jobs::{Axis, LoadError, SweptKey};

/// The option of `io` and `choose` that has the swept options as JSON. Hidden: the words become it.
pub const OPTION: &str = "io-sweep";

/// The swept options: names and texts, in the order of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts(Vec<(String, String)>);

/// Reads the swept options from JSON.
pub fn parse(text: &str) -> Result<Texts, String> {
    serde_json::from_slice(text.as_bytes()).map(Texts).map_err(|error| error.to_string())
}

impl Texts {
    /// The swept options and their texts.
    pub fn all(&self) -> &[(String, String)] {
        &self.0
    }

    /// The values of the swept options.
    pub fn axes(&self) -> Result<Vec<Axis>, LoadError> {
        self.0.iter().filter_map(|(name, text)| Some(Axis::read(SweptKey::named(name)?, text))).collect()
    }
}

/// Takes the options with several values out of a call of `io`. Other calls stay as they are. An option that is given
/// again is left to the grammar, which refuses it.
pub fn without_swept_options(words: Vec<OsString>, has_fio_words: bool) -> Vec<OsString> {
    if words.get(1).is_none_or(|word| word != "io") {
        return words;
    }
    let (mut others, swept) = divided(words, has_fio_words);
    others.splice(2..2, hidden_option(&swept));
    others
}

/// The hidden option with the swept options; `None` if there are none.
pub fn hidden_option(swept: &Texts) -> Option<OsString> {
    let json = serde_json::to_string(&swept.0).expect("plain data");
    (!swept.0.is_empty()).then(|| format!("--{OPTION}={json}").into())
}

/// Divides words into those without several values, and the swept options.
pub fn divided(words: Vec<OsString>, has_fio_words: bool) -> (Vec<OsString>, Texts) {
    let (mut others, mut swept) = (Vec::new(), Vec::<(String, String)>::new());
    let mut rest = words.into_iter().peekable();
    while let Some(word) = rest.next() {
        if word == "--" {
            others.push(word);
            break;
        }
        let Some((key, given)) = word.to_str().and_then(option) else {
            others.push(word);
            continue;
        };
        let text = given.map(str::to_owned).or_else(|| rest.peek().and_then(|next| next.to_str()).map(str::to_owned));
        let is_first = swept.iter().all(|(name, _)| name != key.name());
        // In fio, --bs 4k,64k has the sizes of reads and of writes. The grammar refuses it.
        let is_of_fio = |text: &str| has_fio_words && key.name() == "bs" && text.contains(',');
        match text.filter(|text| is_first && key.has_several(text) && !is_of_fio(text)) {
            Some(text) => {
                if given.is_none() {
                    rest.next();
                }
                swept.push((key.name().to_owned(), text));
            }
            None => others.push(word),
        }
    }
    others.extend(rest);
    (others, Texts(swept))
}

/// The swept key that a word names, as in `--bs` or `--bs=4k..1M*2`, and the value after the equals sign.
fn option(word: &str) -> Option<(SweptKey, Option<&str>)> {
    let name = word.strip_prefix("--")?;
    let (name, value) = name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
    Some((SweptKey::named(name)?, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    fn divide(line: &str) -> Vec<String> {
        let words = without_swept_options(line.split_whitespace().map(OsString::from).collect(), false);
        words.into_iter().map(|word| word.into_string().expect("text")).collect()
    }

    #[test]
    fn options_with_several_values_are_taken_out() {
        let words = divide("diskperf io randread --bs 4k..16k*2 --direct --iodepth=1,8 --jobs 2 . --rounds 3");
        let json = words[2].strip_prefix("--io-sweep=").expect("the swept options");
        assert_eq!(words[3..], ["randread", "--direct", "--jobs", "2", ".", "--rounds", "3"]);
        let axes = parse(json).expect("texts").axes().expect("values");
        let expected = [(SweptKey::Bs, vec![4096, 8192, 16384]), (SweptKey::Iodepth, vec![1, 8])];
        assert_eq!(axes, expected.map(|(key, values)| Axis { key, values }));
        let words: Vec<OsString> = "diskperf io randread --iodepth 1..8*2".split(' ').map(OsString::from).collect();
        assert_eq!(cli::refusal(&words), None);
    }

    #[test]
    fn other_words_stay() {
        for line in [
            "diskperf io randread --bs 4k:60,64k:40 --iodepth 8",
            "diskperf run quick --jobs 1,4",
            "diskperf io randread -- --jobs 1,4",
            "diskperf io randread --bs",
        ] {
            assert_eq!(divide(line).join(" "), line);
        }
        // The grammar refuses the second one.
        let words = divide("diskperf io randread --jobs 1,4 --jobs 2,3");
        assert_eq!(words[3..], ["randread", "--jobs", "2,3"]);
    }
}
