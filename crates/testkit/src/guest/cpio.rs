//! An archive as the kernel unpacks it at its start: the format `newc` of cpio(5).

/// File types of mode bits, as in stat(2).
const FOLDER: u32 = 0o040_755;
const FILE: u32 = 0o100_755;
const LINK: u32 = 0o120_777;
const CHARACTER_DEVICE: u32 = 0o020_600;

/// The name of the last entry.
const END: &str = "TRAILER!!!";

/// An archive that is being written.
#[derive(Debug, Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    entries: u32,
    folders: std::collections::BTreeSet<String>,
}

impl Archive {
    /// Adds a file that everyone may execute, and its folders.
    pub(super) fn file(&mut self, path: &str, content: &[u8]) {
        self.parents(path);
        self.entry(path, FILE, (0, 0), content);
    }

    /// Adds a symbolic link, and its folders.
    pub(super) fn link(&mut self, path: &str, target: &str) {
        self.parents(path);
        self.entry(path, LINK, (0, 0), target.as_bytes());
    }

    /// Adds a folder, and those above it.
    pub(super) fn folder(&mut self, path: &str) {
        self.parents(path);
        if self.folders.insert(path.to_owned()) {
            self.entry(path, FOLDER, (0, 0), &[]);
        }
    }

    /// Adds the node of a character device.
    pub(super) fn character_device(&mut self, path: &str, number: (u32, u32)) {
        self.parents(path);
        self.entry(path, CHARACTER_DEVICE, number, &[]);
    }

    /// The archive with its end.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry(END, 0, (0, 0), &[]);
        self.bytes
    }

    fn parents(&mut self, path: &str) {
        if let Some((parent, _)) = path.rsplit_once('/')
            && !parent.is_empty()
        {
            self.folder(parent);
        }
    }

    fn entry(&mut self, path: &str, mode: u32, number: (u32, u32), content: &[u8]) {
        self.entries += 1;
        let path = path.trim_start_matches('/');
        let sizes = [content.len(), path.len() + 1].map(|size| u32::try_from(size).expect("less than 4 GiB"));
        // Inode, mode, owner, group, links, time, size, device of the file, device of the node, length of the name.
        let fields = [self.entries, mode, 0, 0, 1, 0, sizes[0], 0, 0, number.0, number.1, sizes[1], 0];
        self.bytes.extend(b"070701");
        fields.iter().for_each(|field| self.bytes.extend(format!("{field:08X}").bytes()));
        self.bytes.extend(path.bytes().chain([0]));
        self.pad();
        self.bytes.extend(content);
        self.pad();
    }

    /// Entries and contents begin at multiples of four.
    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_written_once_and_before_their_files() {
        let mut archive = Archive::default();
        archive.file("/bin/a", b"abcde");
        archive.link("/bin/b", "a");
        archive.character_device("/dev/console", (5, 1));
        archive.folder("/bin");
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        let places =
            ["bin\0", "bin/a\0", "abcde", "bin/b\0", "dev\0", "dev/console\0", END].map(|name| text.find(name));
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?}");
        assert_eq!(text.matches("070701").count(), 6);
    }

    /// The header of cpio(5): magic, inode, mode, owner, group, links, time, size, ...
    #[test]
    fn a_header_has_the_fields_of_the_format() {
        let mut archive = Archive::default();
        archive.file("a", b"xyz");
        let bytes = archive.finish();
        let field = |index: usize| std::str::from_utf8(&bytes[6 + 8 * index..][..8]).expect("digits").to_owned();
        assert_eq!([field(0), field(1), field(6), field(11)], ["00000001", "000081ED", "00000003", "00000002"]);
        assert_eq!(&bytes[110..116], b"a\0xyz\0");
    }
}
