//! The output formats of a fio call, such as `--output-format=normal,json`.

use crate::error::ArgumentError;

/// The words of diskperf for these formats of fio. diskperf prints only one format: JSON, if it is one of them.
pub(super) fn formats(value: &str) -> Result<&'static [&'static str], ArgumentError> {
    let all = || value.split(',').map(str::trim);
    let has = |name: &str| all().any(|format| format == name);
    let is_json = |format: &str| format.starts_with("json");
    if has("terse") {
        return Err(ArgumentError::OtherSpelling("--output-format=terse", "--format csv"));
    }
    if all().any(|format| !is_json(format) && format != "csv" && format != "normal") {
        return Err(ArgumentError::OtherSpelling("--output-format", "--json or --format csv"));
    }
    let words: &[&str] = if all().any(is_json) {
        &["--json"]
    } else if has("csv") {
        &["--format", "csv"]
    } else {
        &[]
    };
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_formats_is_printed() {
        for (value, expected) in [
            ("json", &["--json"][..]),
            ("normal", &[]),
            ("json+", &["--json"]),
            ("normal,json", &["--json"]),
            ("json,normal", &["--json"]),
            ("csv, json", &["--json"]),
            ("csv", &["--format", "csv"]),
        ] {
            assert_eq!(formats(value).expect(value), expected, "{value}");
        }
        for value in ["terse", "normal,terse", "json,terse", "xml", ""] {
            assert!(matches!(formats(value), Err(ArgumentError::OtherSpelling(..))), "{value}");
        }
    }
}
