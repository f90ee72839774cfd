//! Targets for which the compiler can build, and their installation.

use std::path::Path;
use std::process::Command;

use crate::process;

/// Installs the target's core library if it is missing. The error has the reason why that failed.
pub fn provide(target: &str) -> Result<(), String> {
    let sysroot = process::output(Command::new("rustc").args(["--print", "sysroot"]))?;
    if Path::new(sysroot.trim()).join("lib/rustlib").join(target).is_dir() {
        return Ok(());
    }
    match process::answer(Command::new("rustup").args(["target", "add", target])) {
        Ok((true, _)) => Ok(()),
        _ => Err(format!("the target {target} is not installed, and rustup cannot add it")),
    }
}
