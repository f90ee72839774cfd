//! The kernels and tools of guests, which `cargo xtask test` unpacks from Debian's packages. They are not installed.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cpio::Archive;
use super::modules::Modules;
use super::{Plan, QEMU, agent, files};
use crate::has_tool;

/// The environment variable with the folder of kernels and tools, if it is not `target/guests`.
pub const FOLDER: &str = "DISKPERF_GUESTS";

/// The folder of the tools in it: the root of a Debian system.
const ROOT: &str = "root";

/// Folders of that system with tools.
const TOOLS: [&str; 7] = ["usr/sbin", "sbin", "usr/bin", "bin", "usr/libexec", "lib/udev", "lib/systemd"];

/// Folders of that system with libraries.
const LIBRARIES: [&str; 4] =
    ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu/systemd", "usr/lib"];

/// The program that loads other programs with their libraries. Its name in `/lib64` is a link, which may lead out of
/// the root of the tools.
const LOADER: &str = "ld-linux-x86-64.so.2";

/// The folder of kernels and tools.
pub fn folder() -> PathBuf {
    env::var_os(FOLDER).map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/guests"), PathBuf::from)
}

/// The reason why guests cannot run here; `None` if they can.
pub fn missing_requirement() -> Option<String> {
    if let Some(name) = [QEMU, "setpriv"].into_iter().find(|name| !has_tool(name)) {
        return Some(format!("{name} is not installed"));
    }
    let is_there = folder().join(ROOT).is_dir();
    (!is_there).then(|| "there are no kernels and tools for guests: cargo xtask test downloads them".to_owned())
}

/// A kernel for guests.
#[derive(Clone, Debug)]
pub struct Kernel {
    folder: PathBuf,
}

impl Kernel {
    /// The kernel of this series: `6.1`. The error is a reason to skip the test.
    pub fn find(series: &str) -> Result<Kernel, String> {
        if let Some(reason) = missing_requirement() {
            return Err(reason);
        }
        let kernel = Kernel::in_folder(&folder().join(series));
        if kernel.image().is_file() { Ok(kernel) } else { Err(format!("there is no Linux {series} for guests")) }
    }

    /// The kernel in this folder.
    pub(super) fn in_folder(folder: &Path) -> Kernel {
        Kernel { folder: folder.to_owned() }
    }

    /// The file that QEMU starts.
    pub(super) fn image(&self) -> PathBuf {
        self.folder.join("vmlinuz")
    }

    /// The first file system of a guest.
    pub(super) fn initramfs(&self, plan: &Plan) -> Result<Vec<u8>, String> {
        let root = folder().join(ROOT);
        let busybox = root.join("bin/busybox");
        let modules = Modules::in_folder(&self.folder.join("modules"))?;
        let mut archive = Archive::default();
        for path in ["/proc", "/sys", "/dev", "/tmp", "/run", "/root", "/mnt", "/etc", "/var/lib", "/sbin", "/modules"]
        {
            archive.folder(path);
        }
        // The kernel opens it before the first program can make it.
        archive.character_device("/dev/console", (5, 1));
        archive.file("/init", agent::INIT.as_bytes());
        archive.file("/script", plan.script.as_bytes());
        archive.file("/etc/passwd", b"root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/tmp:/bin/sh\n");
        archive.file("/etc/group", b"root:x:0:\ndisk:x:6:\nuser:x:1000:\n");
        archive.link("/etc/mtab", "/proc/self/mounts");
        let mut all = files(plan)?;
        all.insert("/bin/busybox".to_owned(), busybox.clone());
        for (path, here) in all {
            archive.file(&path, &fs::read(&here).map_err(|error| format!("{}: {error}", here.display()))?);
        }
        for (number, (name, content)) in modules.with_needed(&plan.modules, &busybox)?.into_iter().enumerate() {
            archive.file(&format!("/modules/loaded/{number:03}-{name}"), &content);
        }
        for (name, content) in modules.with_needed(&plan.unloaded, &busybox)? {
            archive.file(&format!("/modules/{name}.ko"), &content);
        }
        Ok(archive.finish())
    }
}

/// A tool with the libraries that it needs: paths in the guest, and paths here. The tool is in `/sbin`, before
/// BusyBox's tools of the same name.
pub(super) fn tool_with_libraries(name: &str) -> Result<BTreeMap<String, PathBuf>, String> {
    let root = folder().join(ROOT);
    let find = |folders: &[&str], name: &str| {
        let path = folders.iter().map(|folder| root.join(folder).join(name)).find(|path| path.is_file());
        path.ok_or_else(|| format!("the tools for guests have no {name}: cargo xtask test downloads them"))
    };
    let (path, loader) = (find(&TOOLS, name)?, find(&LIBRARIES, LOADER)?);
    let search: Vec<String> = LIBRARIES.iter().map(|folder| root.join(folder).display().to_string()).collect();
    let needed = needed(&loader, &["--library-path", &search.join(":")], &path)?;
    let mut all = BTreeMap::from([(format!("/sbin/{name}"), path)]);
    if !needed.is_empty() {
        all.insert(format!("/lib64/{LOADER}"), loader);
    }
    all.extend(needed.into_iter().map(|(name, here)| (format!("/lib/x86_64-linux-gnu/{name}"), here)));
    Ok(all)
}

/// A program or library of this machine with the libraries that it needs, for [`Plan::files`]: paths in the guest, and
/// paths here. They are the same, because a program may look for files next to itself.
pub fn installed(path: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let loader = Path::new("/lib64").join(LOADER);
    let needed = needed(&loader, &[], path)?;
    let loader = if needed.is_empty() { None } else { Some(loader) };
    let all = [path.to_owned()].into_iter().chain(loader).chain(needed.into_iter().map(|(_, here)| here));
    Ok(all.map(|path| (path.display().to_string(), path)).collect())
}

/// As [`installed`], with another path of the program in the guest. The libraries replace those of the guest's tools
/// with the same paths. So after an upgrade of this machine to another release, `target/guests` must be deleted.
pub fn installed_as(name: &str, path: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let mut all = installed(path)?;
    name.clone_into(&mut all[0].0);
    Ok(all)
}

/// The libraries that a program needs, with their paths, as this loader finds them. A static program needs no library,
/// and the loader refuses it.
fn needed(loader: &Path, options: &[&str], program: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let mut command = Command::new(loader);
    command.args(options).arg("--list").arg(program);
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{}: {error}", loader.display()))?;
    if output.status.success() { libraries(&String::from_utf8_lossy(&output.stdout)) } else { Ok(Vec::new()) }
}

/// The libraries in a list of the loader: `libc.so.6 => /lib/libc.so.6 (0x1)`. The kernel's own library and the loader
/// have no arrow or no file. A library that is not found is an error.
fn libraries(listed: &str) -> Result<Vec<(String, PathBuf)>, String> {
    let mut all = Vec::new();
    for (name, rest) in listed.lines().filter_map(|line| line.trim().split_once(" => ")) {
        let path = rest.rsplit_once(" (").map_or(rest, |(path, _)| path);
        if path == "not found" {
            return Err(format!("the tools for guests have no library {name}"));
        }
        if !name.starts_with('/') {
            all.push((name.to_owned(), PathBuf::from(path)));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_from_the_list_of_the_loader() {
        let listed = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => /r/lib/libc.so.6 (0x00007f)\n\
                      \t/lib64/ld-linux-x86-64.so.2 => /r/lib64/ld-linux-x86-64.so.2 (0x00007f)\n";
        assert_eq!(libraries(listed), Ok(vec![("libc.so.6".to_owned(), PathBuf::from("/r/lib/libc.so.6"))]));
        assert_eq!(
            libraries("\tlibx.so => not found\n"),
            Err("the tools for guests have no library libx.so".to_owned())
        );
        assert_eq!(libraries("\tstatically linked\n"), Ok(Vec::new()));
    }
}
