//! The kernels and tools of guests (`testkit::guest`), unpacked from Debian's packages into `target/guests`. They are
//! not installed: they would add services and rules to this machine.
//!
//! Policy:
//!   1. apt-get downloads the packages from the sources of this machine, for which no rights are needed. dpkg unpacks
//!      them;
//!   2. a series of kernels that the sources do not have is left out. Its tests skip themselves;
//!   3. the folder is complete or not there. It is made again if the list of packages has changed, and otherwise kept,
//!      so that a test runs on the same kernel until the folder is deleted.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::process;

/// The series of kernels.
pub const SERIES: [&str; 2] = ["6.1", "6.12"];

/// The packages with the tools.
const TOOLS: [&str; 20] = [
    "bcache-tools",
    "btrfs-progs",
    "busybox-static",
    "cryptsetup-bin",
    "dmsetup",
    "dropbear-bin",
    "e2fsprogs",
    "fdisk",
    "kmod",
    "ksmbd-tools",
    "lvm2",
    "mdadm",
    "mount",
    "nbd-client",
    "nbd-server",
    "thin-provisioning-tools",
    "udev",
    "util-linux",
    "xfsprogs",
    "nfs-common",
];

/// The file with the list of packages.
const LIST: &str = "packages";

/// Downloads and unpacks what is missing. Fails if a download was started and failed.
pub fn provide() -> Result<(), String> {
    let folder = testkit::guest::folder();
    let tools = ["apt-get", "apt-cache", "dpkg"];
    if let Some(missing) = tools.into_iter().find(|name| !testkit::has_tool(name)) {
        println!("no guests: {missing} is not installed, and their tests will be skipped");
        return Ok(());
    }
    let kernels: Vec<(&str, String)> =
        SERIES.iter().filter_map(|series| Some((*series, newest(&found(series)?, series)?))).collect();
    let list = format!("{TOOLS:?} {:?}\n", kernels.iter().map(|(series, _)| series).collect::<Vec<_>>());
    // 3
    if fs::read_to_string(folder.join(LIST)).is_ok_and(|kept| kept == list) {
        return Ok(());
    }
    if kernels.is_empty() {
        println!("no guests: apt knows no kernel for them, and their tests will be skipped");
        return Ok(());
    }
    let failed = |error| format!("cannot write to {}: {error}", folder.display());
    let parent = folder.parent().expect("a folder in target");
    fs::create_dir_all(parent).map_err(failed)?;
    let scratch = TempDir::with_prefix_in("guests-", parent).map_err(failed)?;
    let new = scratch.path().join("new");
    for (series, package) in kernels {
        println!("a kernel for guests: {package}");
        let root = scratch.path().join(series);
        unpack(&[package], &scratch.path().join(format!("{series}-packages")), &root)?;
        arrange_kernel(&root, &new.join(series)).map_err(failed)?;
    }
    let packages = with_libraries()?;
    println!("tools for guests: {} packages", packages.len());
    unpack(&packages, &scratch.path().join("packages"), &new.join("root"))?;
    fs::write(new.join(LIST), list).map_err(failed)?;
    if folder.exists() {
        fs::rename(&folder, scratch.path().join("old")).map_err(failed)?;
    }
    fs::rename(&new, &folder).map_err(failed)
}

/// The packages with kernels of a series. `None` if apt cannot be asked.
fn found(series: &str) -> Option<String> {
    let pattern = format!("^linux-image-{}\\.[0-9.]+[-+].*cloud-amd64-unsigned$", series.replace('.', "\\."));
    process::output(Command::new("apt-cache").args(["search", "--names-only", &pattern])).ok()
}

/// The newest package of a series in a list of apt.
fn newest(listed: &str, series: &str) -> Option<String> {
    let prefix = format!("linux-image-{series}.");
    let names = listed.lines().filter_map(|line| line.split_whitespace().next());
    let of_series = names.filter(|name| name.starts_with(&prefix));
    of_series.max_by_key(|name| numbers(name)).map(str::to_owned)
}

/// The numbers of a name, by which versions are compared.
fn numbers(name: &str) -> Vec<u64> {
    name.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

/// The packages with the tools, and those with the libraries that they need.
fn with_libraries() -> Result<Vec<String>, String> {
    let without = ["recommends", "suggests", "conflicts", "breaks", "replaces", "enhances"];
    let mut command = Command::new("apt-cache");
    command.args(["depends", "--recurse"]).args(without.map(|kind| format!("--no-{kind}"))).args(TOOLS);
    let listed = process::output(&mut command)?;
    let mut all: Vec<String> = libraries(&listed).map(str::to_owned).collect();
    all.extend(TOOLS.map(str::to_owned));
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// The packages with libraries in a list of apt: names at the beginning of a line. Those of Perl serve scripts that no
/// guest runs.
fn libraries(listed: &str) -> impl Iterator<Item = &str> {
    listed
        .lines()
        .filter(|line| line.starts_with("lib") && !line.contains("perl") && !line.contains("debian-installer"))
}

/// Downloads packages and unpacks them into a folder.
fn unpack(packages: &[String], downloads: &Path, root: &Path) -> Result<(), String> {
    for folder in [downloads, root] {
        fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    }
    // 1
    let mut download = Command::new("apt-get");
    // Otherwise root's apt warns that another user cannot write to the folder.
    download.args(["--quiet", "--quiet", "--option", "APT::Sandbox::User=root", "download"]).args(packages);
    process::run(download.current_dir(downloads).stdin(Stdio::null()))?;
    let mut paths: Vec<_> = fs::read_dir(downloads)
        .map_err(|error| format!("cannot list {}: {error}", downloads.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort_unstable();
    paths.iter().try_for_each(|path| process::run(Command::new("dpkg").arg("-x").args([path, root])))
}

/// Moves the parts of an unpacked kernel to the names that guests expect: `vmlinuz` and `modules`.
fn arrange_kernel(root: &Path, kernel: &Path) -> std::io::Result<()> {
    fs::create_dir_all(kernel)?;
    for entry in fs::read_dir(root.join("boot"))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("vmlinuz-") {
            fs::rename(entry.path(), kernel.join("vmlinuz"))?;
        }
    }
    let folders = [root.join("lib/modules"), root.join("usr/lib/modules")];
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        for entry in fs::read_dir(folder)? {
            fs::rename(entry?.path(), kernel.join("modules"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_kernel_of_a_series_is_chosen_by_its_numbers() {
        let listed = "linux-image-6.1.0-9-cloud-amd64-unsigned - Linux 6.1 for x86-64 cloud\n\
                      linux-image-6.1.0-56-cloud-amd64-unsigned - Linux 6.1 for x86-64 cloud\n\
                      linux-image-6.12.117+deb12-cloud-amd64-unsigned - Linux 6.12\n";
        assert_eq!(newest(listed, "6.1").as_deref(), Some("linux-image-6.1.0-56-cloud-amd64-unsigned"));
        assert_eq!(newest(listed, "6.12").as_deref(), Some("linux-image-6.12.117+deb12-cloud-amd64-unsigned"));
        assert_eq!(newest(listed, "5.10"), None);
    }

    #[test]
    fn libraries_are_packages_at_the_beginning_of_a_line() {
        let listed = "lvm2\n  Depends: libaio1\nlibaio1\nlibperl5.36\n  PreDepends: libc6\nlibc6\n<libx>\n";
        assert_eq!(libraries(listed).collect::<Vec<_>>(), ["libaio1", "libc6"]);
    }
}
