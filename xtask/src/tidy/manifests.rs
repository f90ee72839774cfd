//! What every manifest of ours says: what the crate is for, and that it is held to our lints. And what the one of the
//! workspace says for nothing: a dependency that no crate takes.

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

/// The dependencies of the workspace that none of its crates takes. `workspace` is the text of its manifest.
pub fn unused(workspace: &str, manifests: &[(String, String)]) -> Vec<Finding> {
    let names = entries(workspace, "[workspace.dependencies]").map(|(name, _)| name);
    let takes = |text: &str, name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once('='));
        lines.any(|(key, value)| match key.trim().split_once('.') {
            Some((key, "workspace")) => key == name && value.trim() == "true",
            Some(_) => false,
            None => key.trim() == name && value.replace(' ', "").contains("workspace=true"),
        })
    };
    names
        .filter(|name| !manifests.iter().any(|(_, text)| takes(text, name)))
        .map(|name| Finding::new("Cargo.toml", format!("no crate takes the dependency {name}")))
        .collect()
}

/// The value of a key in a section, as it is written.
fn value<'a>(manifest: &'a str, section: &str, key: &str) -> Option<&'a str> {
    entries(manifest, section).find_map(|(found, value)| (found == key).then_some(value))
}

/// The keys of a section and their values, as they are written.
fn entries<'a>(manifest: &'a str, section: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let lines = manifest.lines().map(str::trim).skip_while(move |line| *line != section).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| line.split_once('=')).map(|(key, value)| (key.trim(), value.trim()))
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

    #[test]
    fn a_dependency_of_the_workspace_that_no_crate_takes_is_found() {
        let workspace = "[workspace.dependencies]\nclap = \"4\"\nserde = { version = \"1\" }\nsyn = \"3\"\n\
            [profile.dev]\nx = 1\n";
        let takes = |lines: &str| unused(workspace, &[("a".to_owned(), format!("[dependencies]\n{lines}\n"))]);
        let all = "clap.workspace = true\nserde = { workspace = true, features = [\"std\"] }\nsyn = {workspace=true}";
        assert_eq!(takes(all), []);
        let found = takes("clap.workspace = true\nserde = { version = \"1\" }\nsyn-mid.workspace = true");
        let messages: Vec<_> = found.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages, ["no crate takes the dependency serde", "no crate takes the dependency syn"]);
    }
}
