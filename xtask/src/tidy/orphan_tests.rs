//! Files in the folder of a test binary that are not compiled into it. Cargo finds `tests/a.rs` by itself. A file next
//! to `tests/cli/main.rs` needs a line `mod a;`, and its tests never run without it.

use super::Finding;
use super::source::{File, has_word};

/// Finds files with tests below the folder of a test binary that no `main.rs` or `mod.rs` declares.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for main in files.iter().filter(|file| file.is_test() && file.path.ends_with("/main.rs")) {
        let folder = main.path.trim_end_matches("main.rs");
        let of_binary = || files.iter().filter(|file| file.path.starts_with(folder));
        let declares = |file: &File, name: &str| {
            let is_parent = ["/main.rs", "/mod.rs"].iter().any(|end| file.path.ends_with(end));
            is_parent && has_word(&file.code, &format!("mod {name};"))
        };
        for file in of_binary().filter(|file| file.path != main.path && file.code.contains("#[test]")) {
            let name = name(&file.path);
            if !of_binary().any(|parent| declares(parent, name)) {
                let message = format!("is not compiled: add `mod {name};` to {}", main.path);
                findings.push(Finding::new(&file.path, message));
            }
        }
    }
    findings
}

/// The module name of a file: `a` for `a.rs` and for `a/mod.rs`.
fn name(path: &str) -> &str {
    let path = path.trim_end_matches("/mod.rs").trim_end_matches(".rs");
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing_lines(files: &[(&str, &str)]) -> Vec<String> {
        let path = |path: &str| format!("crates/new/tests/{path}");
        let files: Vec<File> = files.iter().map(|(name, text)| File::new(path(name), *text)).collect();
        check(&files).into_iter().map(|finding| finding.place).collect()
    }

    const TEST: &str = "#[test]\nfn a() {}";

    #[test]
    fn test_files_need_a_module_line() {
        let main = "mod a;\nmod deep {\n    mod b;\n}\nmod output;\n// mod d;\n";
        let files = [
            ("cli/main.rs", main),
            ("cli/a.rs", TEST),
            ("cli/deep/b.rs", TEST),
            ("cli/output/mod.rs", "mod c;\n#[test]\nfn a() {}"),
            ("cli/output/c.rs", TEST),
        ];
        assert_eq!(missing_lines(&files), Vec::<String>::new());
        let more = [&files[..], &[("cli/d.rs", TEST), ("cli/deep/ba.rs", TEST)]].concat();
        assert_eq!(missing_lines(&more), ["crates/new/tests/cli/d.rs", "crates/new/tests/cli/deep/ba.rs"]);
    }

    #[test]
    fn files_without_tests_and_single_files_need_no_line() {
        assert_eq!(
            missing_lines(&[("cli/main.rs", ""), ("cli/help.rs", "fn a() {}"), ("b.rs", TEST)]),
            Vec::<String>::new()
        );
    }
}
