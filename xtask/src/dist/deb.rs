//! A package for Debian and its derivatives: the static program, its manual pages and completions, and the licences. It
//! is packed by `dpkg-deb`, which every such system has.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::MACHINE;
use crate::process;

/// The places where shells find completions: the shell, the folder, the file.
const COMPLETIONS: [(&str, &str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions", "diskperf"),
    ("fish", "usr/share/fish/vendor_completions.d", "diskperf.fish"),
    ("zsh", "usr/share/zsh/vendor-completions", "_diskperf"),
];

/// The folder of the documentation.
const DOCUMENTS: &str = "usr/share/doc/diskperf";

/// Builds the package at `package`.
pub fn pack(program: &Path, version: &str, licences: &str, package: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot pack {}: {error}", program.display());
    let tree = Tree(TempDir::with_prefix("diskperf-deb-").map_err(failed)?);
    tree.write("usr/bin", "diskperf", &fs::read(program).map_err(failed)?)?;
    let pages = TempDir::with_prefix("diskperf-man-").map_err(failed)?;
    process::run(Command::new(program).arg("man").arg("--out").arg(pages.path()))?;
    for page in fs::read_dir(pages.path()).map_err(failed)? {
        let page = page.map_err(failed)?;
        let name = page.file_name().to_string_lossy().into_owned();
        let section = name.rsplit('.').next().unwrap_or_default();
        tree.write_packed(&format!("usr/share/man/man{section}"), &name, &fs::read(page.path()).map_err(failed)?)?;
    }
    for (shell, folder, name) in COMPLETIONS {
        let text = process::output(Command::new(program).args(["completions", shell]))?;
        tree.write(folder, name, text.as_bytes())?;
    }
    let source = |name: &str| fs::read_to_string(process::root().join(name)).map_err(failed);
    tree.write(DOCUMENTS, "copyright", copyright(&source("LICENSE-MIT")?).as_bytes())?;
    tree.write_packed(DOCUMENTS, "licences-of-parts", licences.as_bytes())?;
    tree.write_packed(DOCUMENTS, "changelog", source("CHANGELOG.md")?.as_bytes())?;
    tree.write(DOCUMENTS, "README.md", source("README.md")?.as_bytes())?;
    tree.write("DEBIAN", "control", control(version, tree.settle().map_err(failed)?).as_bytes())?;
    tree.settle().map_err(failed)?;
    let mut dpkg = Command::new("dpkg-deb");
    dpkg.args(["--root-owner-group", "-Zxz", "--build"]).arg(tree.0.path()).arg(package);
    // A fixed time makes the package reproducible.
    let time = Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(process::root()).output();
    if let Some(time) = time.ok().filter(|time| time.status.success()) {
        dpkg.env("SOURCE_DATE_EPOCH", String::from_utf8_lossy(&time.stdout).trim());
    }
    process::run(&mut dpkg)
}

/// The control file of the package (deb-control(5)). It depends on no other package; some are useful for images only.
fn control(version: &str, kibibytes: u64) -> String {
    format!(
        "Package: diskperf\n\
         Version: {version}\n\
         Architecture: {}\n\
         Maintainer: The diskperf developers <diskperf@localhost>\n\
         Installed-Size: {kibibytes}\n\
         Suggests: e2fsprogs, xfsprogs, btrfs-progs\n\
         Section: admin\n\
         Priority: optional\n\
         Description: storage benchmark that explains what it measured\n \
         Measures directories, fresh file systems on images, and simulated machines with\n \
         the same programs, marks what is suspect, and says where the time went.\n",
        MACHINE.0
    )
}

fn copyright(mit: &str) -> String {
    format!(
        "diskperf is licensed under the MIT licence, which follows, or the Apache License 2.0, which is in\n\
         /usr/share/common-licenses/Apache-2.0, as you choose. What it is built from has licences of its own,\n\
         which licences-of-parts.gz in this folder holds.\n\n{mit}"
    )
}

/// The files of the package.
struct Tree(TempDir);

impl Tree {
    fn write(&self, folder: &str, name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
        let folder = self.0.path().join(folder);
        let path = folder.join(name);
        let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, bytes));
        written.map(|()| path.clone()).map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    /// Writes a file compressed by gzip, without name and time, as Debian requires for manual pages and changelogs.
    fn write_packed(&self, folder: &str, name: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.write(folder, name, bytes)?;
        process::run(Command::new("gzip").args(["-9", "--no-name"]).arg(path))
    }

    /// Sets permissions that do not depend on the user who packs: everyone may read, the owner may write, programs are
    /// executable. Returns the size of all files in KiB, each rounded up, as Debian counts.
    fn settle(&self) -> io::Result<u64> {
        let mut kibibytes = 0;
        let mut left = vec![self.0.path().to_owned()];
        while let Some(path) = left.pop() {
            let metadata = fs::symlink_metadata(&path)?;
            let runs = metadata.is_dir() || path.parent().is_some_and(|folder| folder.ends_with("usr/bin"));
            fs::set_permissions(&path, fs::Permissions::from_mode(if runs { 0o755 } else { 0o644 }))?;
            if metadata.is_dir() {
                left.extend(fs::read_dir(&path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?);
            } else {
                kibibytes += metadata.len().div_ceil(1024);
            }
        }
        Ok(kibibytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_describes_itself_in_fields() {
        let control = control("1.2.3", 4321);
        let fields = control.lines().take_while(|line| !line.starts_with(' '));
        assert!(fields.clone().all(|line| line.contains(": ")), "{control}");
        for line in ["Package: diskperf", "Version: 1.2.3", "Architecture: amd64", "Installed-Size: 4321"] {
            assert!(fields.clone().any(|field| field == line), "{control}");
        }
        assert!(!control.contains("Depends"), "a static program depends on nothing");
        let text: Vec<&str> = control.lines().skip_while(|line| !line.starts_with("Description")).skip(1).collect();
        assert!(!text.is_empty() && text.iter().all(|line| line.starts_with(' ')), "{control}");
    }

    #[test]
    fn permissions_are_normalized_and_sizes_are_in_kib() {
        let tree = Tree(TempDir::with_prefix("diskperf-deb-").expect("a folder"));
        let program = tree.write("usr/bin", "diskperf", &[0; 1025]).expect("a file");
        let page = tree.write("usr/share", "page", b"x").expect("a file");
        fs::set_permissions(&page, fs::Permissions::from_mode(0o777)).expect("rights");
        assert_eq!(tree.settle().expect("rights"), 3);
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o7777;
        let folder = tree.0.path().join("usr/share");
        assert_eq!((mode(&program), mode(&page), mode(&folder)), (0o755, 0o644, 0o755));
    }
}
