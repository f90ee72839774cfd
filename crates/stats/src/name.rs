//! Names in JSON. File names can contain any bytes, but JSON has only text. A name that is not UTF-8 is written as
//! `{"bytes": "<hex>"}`. In memory a name is its text (`units::name`).

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A name of a file or of a target: text, or bytes if it is not UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a text, or the bytes of a name that is none, as in bytes = \"61ff\"")]
pub enum Name {
    /// A name in UTF-8.
    Text(String),
    /// A name that is not UTF-8.
    Bytes(NameBytes),
}

/// The bytes of a name that is not UTF-8, or has private characters (U+10FE00 to U+10FEFF).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NameBytes {
    /// Two hexadecimal digits for each byte.
    #[schemars(regex(pattern = r"^([0-9a-f]{2})+$"))]
    pub bytes: String,
}

impl Name {
    /// Converts the text of a name (`units::name`) into its JSON form.
    pub fn new(text: &str) -> Name {
        match units::name::bytes(text) {
            Cow::Borrowed(_) => Name::Text(text.to_owned()),
            Cow::Owned(bytes) => match String::from_utf8(bytes) {
                // In a printed string, a private character stands for a byte (`units::name`). A name that contains one
                // itself would be read back as another name.
                Ok(name) if !name.contains(|character| units::name::byte(character).is_some()) => Name::Text(name),
                name => {
                    let bytes = name.map_or_else(|odd| odd.into_bytes(), String::into_bytes);
                    Name::Bytes(NameBytes { bytes: bytes.iter().map(|byte| format!("{byte:02x}")).collect() })
                }
            },
        }
    }

    /// Returns the text of the name, or `None` if the bytes are not pairs of hexadecimal digits.
    pub fn text(&self) -> Option<String> {
        let text = |bytes: &[u8]| units::name::text(bytes).into_owned();
        match self {
            Name::Text(name) => Some(text(name.as_bytes())),
            Name::Bytes(NameBytes { bytes }) => {
                let byte = |pair: &[u8]| match pair {
                    [high, low] => {
                        let digit = |digit: u8| char::from(digit).to_digit(16);
                        u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()
                    }
                    _ => None,
                };
                let bytes: Option<Vec<u8>> = bytes.as_bytes().chunks(2).map(byte).collect();
                bytes.map(|bytes| text(&bytes))
            }
        }
    }
}

/// A field of a document that holds names: one, an optional one, or several.
pub trait Names: Sized {
    /// The type of the field in JSON.
    type Json: Serialize + for<'de> Deserialize<'de>;
    /// Converts from text to JSON.
    fn to_json(&self) -> Self::Json;
    /// Converts from JSON to text. Returns `None` if the bytes of a name are not pairs of hexadecimal digits.
    fn of_json(json: Self::Json) -> Option<Self>;
}

impl Names for String {
    type Json = Name;

    fn to_json(&self) -> Name {
        Name::new(self)
    }

    fn of_json(json: Name) -> Option<String> {
        json.text()
    }
}

impl Names for Option<String> {
    type Json = Option<Name>;

    fn to_json(&self) -> Option<Name> {
        self.as_deref().map(Name::new)
    }

    fn of_json(json: Option<Name>) -> Option<Option<String>> {
        json.map_or(Some(None), |name| name.text().map(Some))
    }
}

impl Names for Vec<String> {
    type Json = Vec<Name>;

    fn to_json(&self) -> Vec<Name> {
        self.iter().map(|name| Name::new(name)).collect()
    }

    fn of_json(json: Vec<Name>) -> Option<Vec<String>> {
        json.iter().map(Name::text).collect()
    }
}

/// Serializes a field that has `#[serde(with = "crate::name")]`.
pub(crate) fn serialize<N: Names, S: Serializer>(names: &N, serializer: S) -> Result<S::Ok, S::Error> {
    names.to_json().serialize(serializer)
}

/// Deserializes a field that has `#[serde(with = "crate::name")]`.
pub(crate) fn deserialize<'de, N: Names, D: Deserializer<'de>>(deserializer: D) -> Result<N, D::Error> {
    let names = N::of_json(N::Json::deserialize(deserializer)?);
    names.ok_or_else(|| serde::de::Error::custom("the bytes of a name are not pairs of hexadecimal digits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Named {
        #[serde(with = "crate::name")]
        one: String,
        #[serde(with = "crate::name", default)]
        perhaps: Option<String>,
        #[serde(with = "crate::name")]
        several: Vec<String>,
    }

    #[test]
    fn every_name_is_written_and_read_back() {
        let text = |name: &[u8]| units::name::text(name).into_owned();
        let named = Named {
            one: text(b"a\xff"),
            perhaps: Some(text(br"literal \xFF")),
            several: vec![text("größe".as_bytes()), text(b"\x00\xf0")],
        };
        let json = r#"{"one":{"bytes":"61ff"},"perhaps":"literal \\xFF","several":["größe",{"bytes":"00f0"}]}"#;
        assert_eq!(serde_json::to_string(&named).expect("plain data"), json);
        assert_eq!(serde_json::from_str::<Named>(json).expect("names"), named);
        // A private character stands for a byte in a printed string. Here it is part of the name itself.
        let private = text("\u{10FEFF}".as_bytes());
        assert_eq!(serde_json::to_string(&Name::new(&private)).expect("plain data"), r#"{"bytes":"f48fbbbf"}"#);
        let read: Name = serde_json::from_str(r#"{"bytes":"f48fbbbf"}"#).expect("a name");
        assert_eq!(read.text().as_deref(), Some(&*private));
        let without: Named = serde_json::from_str(r#"{"one":"","several":[]}"#).expect("names");
        assert_eq!(without.perhaps, None);
        for odd in [r#"{"bytes":"6"}"#, r#"{"bytes":"zz"}"#, r#"{"bytes":"61","more":1}"#, "7"] {
            let json = format!(r#"{{"one":{odd},"several":[]}}"#);
            assert!(serde_json::from_str::<Named>(&json).is_err(), "{odd}");
        }
    }
}
