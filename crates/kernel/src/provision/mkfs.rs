//! Makes file systems: chooses the program and its options, and runs it.
//!
//! Our options let mkfs ask nothing, discard nothing (an image was fully written and must stay so), and leave no work
//! for after mounting. The user's options follow. None may name a path or another device, so mkfs can only write to
//! its target.

use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use units::Bytes;

use super::image_fault::ImageFault;
use crate::guard::{Cleared, Uuid};
use crate::sys::name::original;

/// Folders with mkfs programs; the user's search path is ignored.
const FOLDERS: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// The options for one family of file systems.
struct Maker {
    names: &'static [&'static str],
    options: &'static [&'static str],
    /// The format of the block size option, if known.
    block: Option<Block>,
    /// The format of the UUID option, if known.
    uuid: Option<Block>,
    /// The default block size in bytes, if the choice of mkfs would be bad.
    usual_block: Option<u64>,
    /// Mount options, which also prevent later discards.
    mount: &'static [&'static str],
    /// The smallest size in bytes that mkfs accepts.
    minimum: u64,
    /// The option with which mkfs checks all others and writes nothing, if it has one.
    dry_run: Option<&'static str>,
    /// The maximum size in bytes of a file in memory on which the file system can be made. mkfs writes tables there.
    in_memory: u64,
}

/// The format of an option with a block size or another value.
enum Block {
    /// `-b 4096`
    Number(&'static str),
    /// `-b size=4096`
    Size(&'static str),
}

/// The path of a program's standard input.
const STDIN: &str = "/proc/self/fd/0";

/// Options for the work that ext4 leaves for after mounting, so that mkfs does it at once.
const EXT_EXTENDED: &str = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";

const MAKERS: [Maker; 4] = [
    Maker {
        names: &["ext2", "ext3", "ext4"],
        options: &["-q", "-F"],
        block: Some(Block::Number("-b")),
        uuid: Some(Block::Number("-U")),
        // Below 512 MiB, mkfs chooses 1024, which real file systems do not use.
        usual_block: Some(4096),
        dry_run: Some("-n"),
        ..OTHER
    },
    Maker {
        names: &["xfs"],
        options: &["-q", "-f", "-K"],
        block: Some(Block::Size("-b")),
        uuid: Some(Block::Size("-m")),
        // mkfs.xfs 6.1: "Filesystem must be larger than 300MB."
        minimum: 300 << 20,
        dry_run: Some("-N"),
        ..OTHER
    },
    Maker {
        names: &["btrfs"],
        options: &["-q", "-f", "-K"],
        block: Some(Block::Number("-s")),
        uuid: Some(Block::Number("-U")),
        // By default, btrfs discards freed space if the device supports it.
        mount: &["nodiscard"],
        // mkfs.btrfs 6.2: "minimum size for each btrfs device is 114294784"
        minimum: 114_294_784,
        // mkfs.btrfs 6.2 writes less than 5 MiB for 5 TiB.
        in_memory: u64::MAX,
        ..OTHER
    },
    Maker { names: &["f2fs"], options: &["-q", "-f", "-t", "0"], mount: &["nodiscard"], ..OTHER },
];

/// The options for an unknown file system.
const OTHER: Maker = Maker {
    names: &[],
    options: &[],
    block: None,
    uuid: None,
    usual_block: None,
    mount: &[],
    minimum: 1 << 20,
    dry_run: None,
    // The size affects few options. The tables for this much have a few megabytes.
    in_memory: 64 << 30,
};

/// The packages with these programs, in Debian and its descendants.
const PACKAGES: [(&str, &str); 14] = [
    ("ext2", "e2fsprogs"),
    ("ext3", "e2fsprogs"),
    ("ext4", "e2fsprogs"),
    ("xfs", "xfsprogs"),
    ("btrfs", "btrfs-progs"),
    ("bcachefs", "bcachefs-tools"),
    ("exfat", "exfatprogs"),
    ("f2fs", "f2fs-tools"),
    ("jfs", "jfsutils"),
    ("minix", "util-linux"),
    ("nilfs2", "nilfs-tools"),
    ("ntfs3", "ntfs-3g"),
    ("udf", "udftools"),
    ("vfat", "dosfstools"),
];

/// The planned mkfs call for a file system.
#[derive(Clone, Debug)]
pub(crate) struct Mkfs {
    file_system: String,
    name: String,
    program: PathBuf,
    arguments: Vec<String>,
}

impl Mkfs {
    /// Plans how to make `file_system` with this block size and the user's options. Changes nothing.
    pub(crate) fn plan(file_system: &str, block: Option<Bytes>, options: &[String]) -> Result<Mkfs, ImageFault> {
        let is_word = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if file_system.is_empty() || !is_word(file_system) {
            return Err(ImageFault::BadName(file_system.to_owned()));
        }
        let arguments = arguments(file_system, block, options)?;
        let name = format!("mkfs.{file_system}");
        let folders = FOLDERS.map(Path::new);
        let program = folders.iter().map(|folder| folder.join(&name)).find(|program| program.is_file());
        match program {
            Some(program) => Ok(Mkfs { file_system: file_system.to_owned(), name, program, arguments }),
            None => Err(ImageFault::NoTool { tool: name, package: package(file_system) }),
        }
    }

    /// True if mkfs accepts a UUID for the file system.
    pub(crate) fn takes_uuid(&self) -> bool {
        maker(&self.file_system).uuid.is_some()
    }

    /// The command line without the UUID and the device.
    pub(crate) fn line(&self) -> String {
        [std::slice::from_ref(&self.name), &self.arguments[..]].concat().join(" ")
    }

    /// Makes the file system, with this UUID if mkfs accepts one. Releases the device directly before, because mkfs
    /// needs it exclusively. mkfs runs in the folder `empty`, so that a plain name leads to no file. It keeps `held`
    /// open while it runs, even if this process is killed meanwhile.
    pub(crate) fn run(
        &self,
        cleared: &mut Cleared,
        uuid: Option<Uuid>,
        empty: &Path,
        held: Option<File>,
    ) -> Result<(), ImageFault> {
        let uuid = uuid.and_then(|uuid| match maker(&self.file_system).uuid.as_ref()? {
            Block::Number(option) => Some([(*option).to_owned(), uuid.to_string()]),
            Block::Size(option) => Some([(*option).to_owned(), format!("uuid={uuid}")]),
        });
        cleared.release()?;
        let mut command = command(&self.program, empty);
        if let Some(held) = held {
            command.stdin(held);
        }
        command.args(self.arguments.iter().map(|argument| original(argument)));
        self.execute(command.args(uuid.into_iter().flatten()).arg(cleared.node()))
    }

    /// Lets mkfs check its options for a device of the file's size. mkfs writes nothing. Returns false if this mkfs
    /// cannot do that.
    pub(crate) fn check(&self, file: BorrowedFd, empty: &Path) -> Result<bool, ImageFault> {
        let Some(option) = maker(&self.file_system).dry_run else { return Ok(false) };
        let file = file.try_clone_to_owned().map_err(|source| self.not_run(source))?;
        let mut command = command(&self.program, empty);
        // It is first: the user's last option may take the next word as its value.
        command.arg(option).args(self.arguments.iter().map(|argument| original(argument)));
        self.execute(command.arg(STDIN).stdin(file))?;
        Ok(true)
    }

    /// The maximum size in bytes of a file in memory on which the file system can be made.
    pub(crate) fn most_in_memory(&self) -> u64 {
        maker(&self.file_system).in_memory
    }

    fn not_run(&self, source: io::Error) -> ImageFault {
        ImageFault::NotRun { tool: self.program.clone(), source }
    }

    fn execute(&self, command: &mut Command) -> Result<(), ImageFault> {
        let output = command.output().map_err(|source| self.not_run(source))?;
        if output.status.success() {
            return Ok(());
        }
        let words = words(&output.stderr).or_else(|| words(&output.stdout)).unwrap_or_else(|| ending(output.status));
        Err(ImageFault::Mkfs { tool: self.name.clone(), words })
    }
}

/// A command that runs in a folder, with an environment that is ours alone. So the user, or a program that set the
/// user's environment, cannot choose its configuration file, its libraries or its language.
fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", FOLDERS.join(":")).env("LC_ALL", "C").current_dir(folder).stdin(Stdio::null());
    command
}

/// The smallest size that mkfs accepts with its own defaults.
pub(crate) fn minimum(file_system: &str) -> Bytes {
    Bytes(maker(file_system).minimum)
}

/// All mount options: ours first, so that the user's override them.
pub(crate) fn mount_options(file_system: &str, options: &[String]) -> Vec<String> {
    maker(file_system).mount.iter().map(|&option| option.to_owned()).chain(options.iter().cloned()).collect()
}

fn maker(file_system: &str) -> &'static Maker {
    MAKERS.iter().find(|maker| maker.names.contains(&file_system)).unwrap_or(&OTHER)
}

/// The names of the known file systems. Others work too, if their mkfs is installed.
pub fn file_systems() -> impl Iterator<Item = &'static str> {
    PACKAGES.iter().map(|(name, _)| *name)
}

/// Checks that the mkfs of this file system is installed. The error is the package that has it, if known.
pub(crate) fn tool(file_system: &str) -> Result<(), Option<&'static str>> {
    match Mkfs::plan(file_system, None, &[]) {
        Ok(_) => Ok(()),
        Err(_) => Err(package(file_system)),
    }
}

fn package(file_system: &str) -> Option<&'static str> {
    PACKAGES.iter().find(|(name, _)| *name == file_system).map(|(_, package)| *package)
}

fn arguments(file_system: &str, block: Option<Bytes>, options: &[String]) -> Result<Vec<String>, ImageFault> {
    if let Some(option) = options.iter().find(|option| leads_elsewhere(option)) {
        return Err(ImageFault::Elsewhere(option.clone()));
    }
    let maker = maker(file_system);
    let mut arguments: Vec<String> = maker.options.iter().map(|&option| option.to_owned()).collect();
    if let Some(block) = block.or(maker.usual_block.map(Bytes)) {
        let bad = |why| ImageFault::BadBlock { file_system: file_system.to_owned(), block, why };
        if !block.0.is_power_of_two() || !(512..=65_536).contains(&block.0) {
            return Err(bad("blocks are powers of two from 512 B to 64 KiB"));
        }
        match maker.block {
            Some(Block::Number(option)) => arguments.extend([option.to_owned(), block.0.to_string()]),
            Some(Block::Size(option)) => arguments.extend([option.to_owned(), format!("size={}", block.0)]),
            None => return Err(bad("diskperf does not know the block-size option of its mkfs; use mkfs=")),
        }
    }
    let mut rest = options.to_vec();
    if file_system.starts_with("ext") {
        arguments.extend(["-E".to_owned(), extended(&mut rest)]);
    }
    arguments.extend(rest);
    Ok(arguments)
}

/// Combines the `-E` options: the program uses only the last one, so the user's are appended to ours.
fn extended(options: &mut Vec<String>) -> String {
    let mut all = EXT_EXTENDED.to_owned();
    while let Some(at) = options.iter().position(|option| option.starts_with("-E")) {
        let option = options.remove(at);
        let value = match &option[2..] {
            "" if at < options.len() => options.remove(at),
            value => value.to_owned(),
        };
        all.push(',');
        all.push_str(&value);
    }
    all
}

/// True if an option of mkfs or mount names a path, a second device (`device=`, `logdev=`), or a device by its
/// contents (`UUID=`, `LABEL=`, `TYPE=`).
pub(crate) fn leads_elsewhere(option: &str) -> bool {
    let by_content = option.as_bytes().windows(2).any(|pair| pair[0].is_ascii_uppercase() && pair[1] == b'=');
    option.contains('/') || option.contains("device=") || option.contains("dev=") || by_content
}

/// The program's message, without its name, version and usage.
fn words(said: &[u8]) -> Option<String> {
    let said = units::name::text(said);
    let lines = said.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("mke2fs 1."));
    let lines: Vec<&str> = lines.take_while(|line| !line.to_ascii_lowercase().starts_with("usage")).take(4).collect();
    (!lines.is_empty()).then(|| lines.join("; "))
}

fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (_, Some(signal)) => format!("nothing; signal {signal} ended it"),
        (code, None) => format!("nothing; it ended with status {}", code.unwrap_or(-1)),
    }
}

#[cfg(test)]
mod tests {
    use testkit::fuzz::{Subject, fuzz};

    use super::*;
    use crate::provision::image_file::UnnamedFile;

    fn mkfs_arguments(file_system: &str, block: Option<u64>, options: &str) -> Result<String, ImageFault> {
        let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
        arguments(file_system, block.map(Bytes), &options).map(|arguments| arguments.join(" "))
    }

    #[test]
    fn each_file_system_gets_its_own_options() {
        assert_eq!(mkfs_arguments("xfs", Some(8192), "-m crc=0").expect("fine"), "-q -f -K -b size=8192 -m crc=0");
        assert_eq!(mkfs_arguments("btrfs", Some(4096), "").expect("fine"), "-q -f -K -s 4096");
        assert_eq!(mkfs_arguments("ext4", Some(1024), "").expect("fine"), format!("-q -F -b 1024 -E {EXT_EXTENDED}"));
        assert_eq!(mkfs_arguments("ext3", None, "").expect("fine"), format!("-q -F -b 4096 -E {EXT_EXTENDED}"));
        assert_eq!(mkfs_arguments("minix", None, "-3").expect("fine"), "-3");
    }

    #[test]
    fn extended_options_are_added_to_ours() {
        let all = mkfs_arguments("ext4", None, "-E stride=4 -m 0 -Estripe_width=8").expect("fine");
        assert_eq!(all, format!("-q -F -b 4096 -E {EXT_EXTENDED},stride=4,stripe_width=8 -m 0"));
    }

    #[test]
    fn options_that_name_another_device_are_refused() {
        for option in ["/dev/vda", "-d name=/dev/vda", "-J device=vda", "-Jdevice=vda", "UUID=1", "-l logdev=/x"] {
            let outcome = mkfs_arguments("ext4", None, option);
            assert!(matches!(outcome, Err(ImageFault::Elsewhere(_))), "{option}: {outcome:?}");
        }
        assert!(mkfs_arguments("xfs", None, "-m uuid=7d4be5a6 -L label").is_ok());
    }

    #[test]
    fn impossible_block_sizes_are_refused() {
        for block in [0, 100, 3000, 131_072] {
            assert!(matches!(mkfs_arguments("ext4", Some(block), ""), Err(ImageFault::BadBlock { .. })), "{block}");
        }
        assert!(matches!(mkfs_arguments("minix", Some(1024), ""), Err(ImageFault::BadBlock { .. })));
    }

    #[test]
    fn a_missing_mkfs_names_its_package() {
        let known = |name: &str| PACKAGES.iter().any(|(file_system, _)| *file_system == name);
        assert!(MAKERS.iter().flat_map(|maker| maker.names).all(|name| known(name)));
        let outcome = Mkfs::plan("zzfs", None, &[]);
        assert!(matches!(&outcome, Err(ImageFault::NoTool { tool, package: None }) if tool == "mkfs.zzfs"));
        for name in ["", "../ext4", "Ext4", "ext4 -n"] {
            assert!(matches!(Mkfs::plan(name, None, &[]), Err(ImageFault::BadName(_))), "{name}");
        }
    }

    #[test]
    fn options_are_checked_for_the_full_size_without_writing() {
        let large = UnnamedFile::in_memory(5 << 40).expect("a file");
        let check = |file_system: &str, options: &str| {
            let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
            let mkfs = Mkfs::plan(file_system, None, &options).expect("it is installed");
            mkfs.check(large.descriptor(), Path::new("/"))
        };
        for (file_system, accepted, refused) in
            [("ext4", "-O ^64bit", "-O ^64bit -b 1024"), ("xfs", "-d agsize=100g", "-d agsize=6t")]
        {
            if !testkit::has_tool(&format!("mkfs.{file_system}")) {
                return testkit::skip!("mkfs.{file_system} is not installed");
            }
            assert!(matches!(check(file_system, accepted), Ok(true)), "{file_system}");
            assert!(matches!(check(file_system, refused), Err(ImageFault::Mkfs { .. })), "{file_system}");
        }
        assert_eq!(rustix::fs::fstat(large.descriptor()).expect("its state").st_blocks, 0, "something was written");
    }

    #[test]
    fn tools_do_not_inherit_the_environment() {
        let program = ["/usr/bin/env", "/bin/env"].map(Path::new).into_iter().find(|path| path.is_file());
        let output = command(program.expect("every system has it"), Path::new("/")).output().expect("run");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines: Vec<&str> = said.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["LC_ALL=C", &format!("PATH={}", FOLDERS.join(":"))]);
        assert!(std::env::vars().count() > 2, "this process has an environment");
    }

    #[test]
    fn fuzz_options() {
        let examples = [
            "ext4 4096 -E stride=4 -m 0 -Estripe_width=8 -L x",
            "xfs 8192 -m crc=0,uuid=7d4b -l size=8m",
            "btrfs 4096 -O ^no-holes",
            "minix 1024 -3",
            "mke2fs 1.47.0 (5-Feb-2023)\nInvalid option: -y\n\nUsage: mke2fs [-c]\n more\n",
        ];
        let read = |input: &[u8]| {
            let text = String::from_utf8_lossy(input);
            let said = words(input).map_or(0, |said| said.split("; ").count());
            let mut pieces = text.split_whitespace().map(str::to_owned);
            let (file_system, block) =
                (pieces.next().unwrap_or_default(), pieces.next().and_then(|text| text.parse().ok()));
            let options: Vec<String> = pieces.collect();
            match arguments(&file_system, block.map(Bytes), &options) {
                Ok(arguments) => {
                    // No argument contains a path, so only the cleared device is named.
                    assert!(!arguments.iter().any(|argument| argument.contains('/')), "{arguments:?}");
                    let extended = arguments.iter().filter(|argument| argument.starts_with("-E")).count();
                    assert!(extended == 1 || !file_system.starts_with("ext"), "{arguments:?}");
                    format!("{said} {}", arguments.len())
                }
                Err(fault) => fault.to_string(),
            }
        };
        let words = &["-E", " -E", " -E ", "-b", "/dev/vda", "UUID=", "device=", "ext4", "xfs", "Usage", "\n", " "];
        fuzz(&Subject::new("options of mkfs", examples, read).fast().with_words(words));
    }

    #[test]
    fn the_message_of_mkfs_ends_before_its_usage() {
        let said = b"mke2fs 1.47.0 (5-Feb-2023)\nInvalid option: -y\n\nUsage: mke2fs [-c]\n more\n";
        assert_eq!(words(said).as_deref(), Some("Invalid option: -y"));
        assert_eq!(words(b"\n"), None);
    }
}
