//! The files under `machines/`, compiled into the program.

use crate::part_kind::Kind;

/// A compiled-in file.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// The file's name without its extension.
    pub name: &'static str,
    /// Its path relative to the root of the repository.
    pub path: &'static str,
    /// Its content.
    pub text: &'static str,
}

macro_rules! files {
    ($folder:literal: $($name:literal)+) => {
        &[$(File {
            name: $name,
            path: concat!("machines/", $folder, "/", $name, ".toml"),
            text: include_str!(concat!("../../../machines/", $folder, "/", $name, ".toml")),
        }),+]
    };
}

/// Complete computers: first those of 1983, in the order of the paper's tables.
pub const MACHINES: &[File] = files!("machine":
    "vax750-sc750" "vax750-uda50"
    "vax780-sc780" "vax780-sc780-initial-arbitration" "vax780-sc780-inadequate-lead" "vax780-uda50" "vax780-si9900"
    "sun4-wren4"
    "lab-ide-ext2"
);

/// Devices with a law.
pub const DEVICES: &[File] = files!("device":
    "azure-premium-p10" "azure-premium-p30" "ebs-gp2" "ebs-gp3" "ebs-io2"
);

/// Returns the compiled-in parts of a kind.
pub const fn parts(kind: Kind) -> &'static [File] {
    match kind {
        Kind::Cpu => files!("cpu": "lab-pc" "sun-4-260" "vax-11-750" "vax-11-780"),
        Kind::Kernel => files!("kernel": "4.2bsd" "linux-2.4"),
        Kind::Bus => files!("bus": "ata-33" "cmi" "sbi" "sbi-initial-arbitration" "unibus" "vme"),
        Kind::Controller => files!("controller": "lab-ide" "sc750" "sc780" "si9900" "sun-scsi" "uda50"),
        Kind::Drive => files!("drive": "eagle" "lab-ide" "ra81" "wren-iv"),
        Kind::FileSystem => files!("file-system": "4k-1k" "8k-1k" "ext2" "lfs-cost-benefit" "lfs-greedy" "sunos-8k"),
    }
}

/// Returns the names of the files.
pub fn names(files: &'static [File]) -> Vec<&'static str> {
    files.iter().map(|file| file.name).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_is_compiled_in() {
        let listed: BTreeSet<&str> =
            Kind::ALL.into_iter().flat_map(parts).chain(MACHINES).chain(DEVICES).map(|file| file.path).collect();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines");
        let folders = std::fs::read_dir(&root).expect("the folder of machines").map(|entry| entry.expect("an entry"));
        let mut found = BTreeSet::new();
        for folder in folders.filter(|entry| entry.path().is_dir()) {
            for file in std::fs::read_dir(folder.path()).expect("a folder of parts") {
                let name = file.expect("a file").file_name().into_string().expect("plain names");
                found.insert(format!("machines/{}/{name}", folder.file_name().to_string_lossy()));
            }
        }
        assert_eq!(listed.iter().map(|path| (*path).to_owned()).collect::<BTreeSet<_>>(), found);
    }
}
