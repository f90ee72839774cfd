//! Unsafe code is only in one crate, where reviewers look for it. The lint `unsafe_code` enforces this in the crates
//! that use our lints. This rule also covers crates that do not.

use super::Finding;
use super::source::{File, line_of_word};

/// The crate that calls the kernel.
const ALLOWED: &str = "kernel";

/// Finds unsafe code in other crates.
pub fn check(files: &[File]) -> Vec<Finding> {
    let elsewhere = files.iter().filter(|file| file.path.ends_with(".rs") && file.crate_name() != Some(ALLOWED));
    elsewhere
        .filter_map(|file| {
            let line = line_of_word(&file.code, "unsafe")?;
            Some(Finding::new(format!("{}:{line}", file.path), format!("unsafe code belongs to the crate {ALLOWED}")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_code_is_found_outside_its_crate() {
        let code = "//! unsafe\n\nfn a() {\n    unsafe {}\n}\n";
        assert_eq!(check(&[File::new("crates/kernel/src/a.rs", code)]), []);
        assert_eq!(check(&[File::new("crates/units/src/a.rs", code)])[0].place, "crates/units/src/a.rs:4");
        assert_eq!(check(&[File::new("examples/a.rs", code)]).len(), 1);
        assert_eq!(check(&[File::new("crates/units/src/a.rs", "// unsafe { }\n#![forbid(unsafe_code)]")]), []);
    }
}
