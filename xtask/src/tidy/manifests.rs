//! What every manifest of ours says: what the crate is for, and that it is held to our lints.

use super::Finding;

/// The one crate with unsafe code in it has lints of its own.
const UNSAFE_CRATE: &str = "kernel";

/// Of each crate, its name and the text of its manifest.
pub fn check(manifests: &[(String, String)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, text) in manifests {
        let mut must = |holds: bool, message: &str| {
            if !holds {
                findings.push(Finding::new(name, message));
            }
        };
        let description = value(text, "[package]", "description").unwrap_or_default();
        let says_something = description.trim_matches('"').split_whitespace().count() >= 3;
        must(says_something && !description.contains("TODO"), "its description does not say what it is for");
        if name == UNSAFE_CRATE {
            let denied = value(text, "[lints.rust]", "unsafe_op_in_unsafe_fn") == Some("\"deny\"");
            must(denied, "must deny unsafe_op_in_unsafe_fn");
            let documented = value(text, "[lints.clippy]", "undocumented_unsafe_blocks").is_some();
            must(documented, "must ask for a safety comment at every unsafe block (undocumented_unsafe_blocks)");
            must(value(text, "[lints.rust]", "missing_docs").is_some(), "must ask for missing_docs");
        } else {
            must(value(text, "[lints]", "workspace") == Some("true"), "must take the lints of the workspace");
        }
    }
    findings
}

/// The value of a key in a section, as it is written.
fn value<'a>(manifest: &'a str, section: &str, key: &str) -> Option<&'a str> {
    let lines = manifest.lines().map(str::trim).skip_while(|line| *line != section).skip(1);
    lines.take_while(|line| !line.starts_with('[')).find_map(|line| {
        let (found, value) = line.split_once('=')?;
        (found.trim() == key).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(name: &str, text: &str) -> usize {
        check(&[(name.to_owned(), text.to_owned())]).len()
    }

    #[test]
    fn a_crate_says_what_it_is_for_and_takes_the_lints() {
        let good = "[package]\ndescription = \"Counts things well\"\n[lints]\nworkspace = true\n";
        assert_eq!(findings("units", good), 0);
        assert_eq!(findings("units", &good.replace("Counts things well", "TODO later on")), 1);
        assert_eq!(findings("units", &good.replace("Counts things well", "")), 1);
        assert_eq!(findings("units", &good.replace("true", "false")), 1);
        assert_eq!(findings("units", "[package]\n[dependencies]\nworkspace = true\n"), 2);
    }

    #[test]
    fn the_crate_with_unsafe_code_has_its_own_lints() {
        let good = "[package]\ndescription = \"Calls the kernel\"\n[lints.rust]\nmissing_docs = \"warn\"\n\
            unsafe_op_in_unsafe_fn = \"deny\"\n[lints.clippy]\nundocumented_unsafe_blocks = \"warn\"\n";
        assert_eq!(findings("kernel", good), 0);
        assert_eq!(findings("kernel", &good.replace("deny", "allow")), 1);
        assert_eq!(findings("kernel", "[package]\ndescription = \"Calls the kernel\"\n"), 3);
    }
}
