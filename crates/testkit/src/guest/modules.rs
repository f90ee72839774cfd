//! Kernel modules and the modules that they need, in the order of loading.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The modules of a kernel.
#[derive(Debug, Default)]
pub(super) struct Modules {
    /// Files by the name of the module.
    files: BTreeMap<String, PathBuf>,
    /// Modules that are a part of the kernel.
    built_in: BTreeSet<String>,
}

impl Modules {
    /// The modules in a folder, which has the file `modules.builtin`.
    pub(super) fn in_folder(folder: &Path) -> Result<Modules, String> {
        let mut modules = Modules::default();
        let listed = fs::read_to_string(folder.join("modules.builtin"));
        let listed = listed.map_err(|error| format!("no list of the kernel's own modules: {error}"))?;
        modules.built_in.extend(listed.lines().filter_map(name));
        modules.add(folder)?;
        Ok(modules)
    }

    fn add(&mut self, folder: &Path) -> Result<(), String> {
        let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.add(&path)?;
            } else if let Some(name) = path.to_str().and_then(name) {
                self.files.insert(name, path);
            }
        }
        Ok(())
    }

    /// The contents of the modules and of those that they need, in the order of loading. Without those that are a part
    /// of the kernel.
    pub(super) fn with_needed(&self, names: &[&str], unxz: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
        let mut all = Vec::new();
        for name in names {
            self.load(&normalised(name), unxz, &mut all)?;
        }
        Ok(all)
    }

    fn load(&self, name: &str, unxz: &Path, all: &mut Vec<(String, Vec<u8>)>) -> Result<(), String> {
        if self.built_in.contains(name) || all.iter().any(|(known, _)| known == name) {
            return Ok(());
        }
        let path = self.files.get(name).ok_or_else(|| format!("this kernel has no module {name}"))?;
        let content = content(path, unxz)?;
        for needed in needed(&content) {
            self.load(&needed, unxz, all)?;
        }
        all.push((name.to_owned(), content));
        Ok(())
    }
}

/// The bytes of a module, which may be compressed.
fn content(path: &Path, unxz: &Path) -> Result<Vec<u8>, String> {
    let failed = |problem: String| format!("{}: {problem}", path.display());
    if path.extension().is_some_and(|extension| extension == "ko") {
        return fs::read(path).map_err(|error| failed(error.to_string()));
    }
    let output = Command::new(unxz).args(["unxz", "-c"]).arg(path).stdin(Stdio::null()).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if output.status.success() { Ok(output.stdout) } else { Err(failed("it cannot be unpacked".to_owned())) }
}

/// The name of the module in this file; `None` if the file is not a module.
fn name(path: &str) -> Option<String> {
    let file = path.rsplit('/').next()?;
    let name = file.strip_suffix(".xz").unwrap_or(file).strip_suffix(".ko")?;
    Some(normalised(name))
}

/// The kernel does not tell `-` from `_` in names of modules.
fn normalised(name: &str) -> String {
    name.replace('-', "_")
}

/// The modules that a module needs, from its section `.modinfo`: `depends=a,b`.
fn needed(content: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"\0depends=";
    let Some(at) = content.windows(KEY.len()).position(|window| window == KEY) else { return Vec::new() };
    let value = content[at + KEY.len()..].split(|byte| *byte == 0).next().unwrap_or_default();
    let names = String::from_utf8_lossy(value);
    names.split(',').filter(|name| !name.is_empty()).map(normalised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needed_modules_come_first_and_once() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let write = |name: &str, content: &[u8]| fs::write(folder.path().join(name), content).expect("written");
        fs::create_dir(folder.path().join("sub")).expect("a folder");
        write("modules.builtin", b"kernel/fs/ext4/ext4.ko\n");
        write("dm-mod.ko", b"x\0depends=\0y");
        write("sub/dm-bufio.ko", b"x\0license=GPL\0depends=dm-mod\0y");
        write("dm-thin-pool.ko", b"x\0depends=dm-bufio,dm-mod,ext4\0y");
        let modules = Modules::in_folder(folder.path()).expect("modules");
        let unxz = Path::new("/no/such/program");
        let order = |names: &[&str]| {
            modules.with_needed(names, unxz).map(|all| all.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
        };
        let expected = ["dm_mod", "dm_bufio", "dm_thin_pool"].map(str::to_owned).to_vec();
        assert_eq!(order(&["dm_thin_pool", "dm-mod", "ext4"]), Ok(expected));
        assert_eq!(order(&["f2fs"]), Err("this kernel has no module f2fs".to_owned()));
    }

    #[test]
    fn names_of_files_are_names_of_modules() {
        assert_eq!(name("kernel/drivers/md/dm-crypt.ko.xz").as_deref(), Some("dm_crypt"));
        assert_eq!(name("modules.dep"), None);
        assert_eq!(needed(b"no section"), [""; 0]);
    }
}
