//! Tools from the package registry that single tasks use. A task compiles its tool into `target/tools` when it needs it
//! for the first time. That takes minutes, so `cargo xtask test` uses no such tool.

use std::path::PathBuf;

use crate::process;

/// A tool at a fixed version, so that its results change only with a commit.
pub struct Tool {
    name: &'static str,
    version: &'static str,
}

/// Packs the program for Debian.
pub const CARGO_DEB: Tool = Tool { name: "cargo-deb", version: "3.8.0" };

/// Checks licences and sources of dependencies.
pub const CARGO_DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };

/// Settings for the compilation of a tool. Each runs for a second, so the time of the compiler counts. Their own
/// settings include fat LTO.
const SETTINGS: [(&str, &str); 3] = [
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"),
];

impl Tool {
    /// Returns the path of the tool. Compiles it if this version is not there yet.
    pub fn provide(&self) -> Result<PathBuf, String> {
        let folder = process::root().join("target/tools").join(format!("{}-{}", self.name, self.version));
        let program = folder.join("bin").join(self.name);
        if !program.is_file() {
            println!("{} {} is compiled once, into {}", self.name, self.version, folder.display());
            let mut install = process::cargo(&["install", "--quiet", "--locked", "--version", self.version, self.name]);
            process::run(install.envs(SETTINGS).arg("--root").arg(&folder))?;
        }
        Ok(program)
    }
}
