//! Each number in `machines/` has a unit and a source, or is `n.m.` with a reason. The program's parser demands the
//! same, with better messages. This rule checks every file, even those that the program does not use.

use super::Finding;
use super::source::File;

/// The fields that every value must have.
const BESIDE: [&str; 2] = ["source = \"", "from = \""];

/// Finds values without unit or source.
pub fn check(files: &[File]) -> Vec<Finding> {
    let tables = files.iter().filter(|file| file.path.starts_with("machines/") && file.path.ends_with(".toml"));
    tables
        .flat_map(|file| file.text.lines().enumerate().filter_map(|(index, line)| finding(file, index, line)))
        .collect()
}

fn finding(file: &File, index: usize, line: &str) -> Option<Finding> {
    let (key, value) = line.split_once('=').map(|(key, value)| (key.trim(), value.trim()))?;
    if key.starts_with('#') {
        return None;
    }
    let place = format!("{}:{}", file.path, index + 1);
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    if is_number(value) {
        return Some(Finding::new(place, format!("{key} is a bare number: say its unit and its source")));
    }
    let inner = value.strip_prefix('{')?;
    if inner.contains("value = \"n.m.\"") && inner.contains("reason = \"") {
        return None;
    }
    let number = inner.split_once("value = ").is_some_and(|(_, rest)| is_number(rest.trim_start_matches('[')));
    let lacks = BESIDE.iter().find(|word| !inner.contains(*word));
    match lacks {
        Some(word) => Some(Finding::new(place, format!("{key} has no {}", word.trim_end_matches(" = \"")))),
        None if number && !inner.contains("unit = \"") => Some(Finding::new(place, format!("{key} has no unit"))),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(line: &str) -> usize {
        check(&[File::new("machines/drive/a.toml", format!("name = \"a\"\n{line}\n"))]).len()
    }

    #[test]
    fn numbers_need_a_unit_and_a_source() {
        assert_eq!(findings("rpm = { value = 3600, unit = \"turns/min\", source = \"published\", from = \"x\" }"), 0);
        assert_eq!(findings("order = { value = \"fifo\", source = \"inferred\", from = \"x\" }"), 0);
        assert_eq!(findings("flush = { value = \"n.m.\", reason = \"x\" }"), 0);
        assert_eq!(findings("a = { at = [1], value = [2], unit = \"us\", source = \"inferred\", from = \"x\" }"), 0);
        assert_eq!(findings("# rpm = 3600"), 0);
        for line in [
            "rpm = 3600",
            "a.b = -1",
            "rpm = { value = 3600, source = \"published\", from = \"x\" }",
            "rpm = { value = 3600, unit = \"turns/min\", from = \"x\" }",
            "rpm = { value = 3600, unit = \"turns/min\", source = \"published\" }",
            "order = { value = \"fifo\" }",
            "flush = { value = \"n.m.\" }",
            "a = { at = [1], value = [2], source = \"inferred\", from = \"x\" }",
        ] {
            assert_eq!(findings(line), 1, "{line}");
        }
    }
}
