//! JSON with a checksum.

use serde::Serialize;
use serde::de::DeserializeOwned;
use units::fnv1a;

/// A text and its FNV-1a checksum.
pub(crate) struct ChecksummedJson {
    pub(crate) text: String,
    /// The 64 bits of the checksum as a signed integer, as SQLite stores integers.
    pub(crate) fnv: i64,
}

impl ChecksummedJson {
    /// Serialises data.
    pub(crate) fn serialize<T: Serialize>(data: &T) -> ChecksummedJson {
        ChecksummedJson::from_text(serde_json::to_string(data).expect("plain data"))
    }

    /// Adds the checksum to a text.
    pub(crate) fn from_text(text: String) -> ChecksummedJson {
        ChecksummedJson { fnv: fnv(&text), text }
    }

    /// Returns the text, or an error message if the checksum is wrong.
    pub(crate) fn verified_text(self) -> Result<String, String> {
        if fnv(&self.text) != self.fnv {
            return Err("its checksum is wrong".to_owned());
        }
        Ok(self.text)
    }

    /// Parses the text, or returns an error message.
    pub(crate) fn parse<T: DeserializeOwned>(self) -> Result<T, String> {
        serde_json::from_slice(self.verified_text()?.as_bytes()).map_err(|error| error.to_string())
    }
}

fn fnv(text: &str) -> i64 {
    fnv1a(text.bytes()).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_letter_is_detected() {
        let json = ChecksummedJson::serialize(&vec![1.5, 2.5]);
        assert_eq!(json.text, "[1.5,2.5]");
        let changed = ChecksummedJson { text: "[1.5,3.5]".to_owned(), fnv: json.fnv };
        assert!(changed.parse::<Vec<f64>>().is_err());
        assert_eq!(json.parse::<Vec<f64>>(), Ok(vec![1.5, 2.5]));
    }
}
