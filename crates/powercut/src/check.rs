//! Reads the acknowledged records after the power cut.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::ledger::Ledger;
use crate::record::{Kind, RECORD, Records, Verdict};
use crate::record_paths::{Bounds, RecordPaths};

/// Errors of damage, from errno.h: of the device or of a checksum (EIO; EBADMSG in ext4 and xfs), and of a damaged
/// structure of the file system (EUCLEAN).
const DAMAGED: [i32; 3] = [5, 74, 117];

/// Judges every promised record in the folder of the writers. A file that is damaged, or is not a regular file, counts
/// as missing. Any other reason why a record cannot be read is an error, not a loss.
pub fn check(folder: &Path, records: Records, bounds: Bounds, ledger: &Ledger) -> io::Result<Vec<(Kind, Verdict)>> {
    let paths = RecordPaths(folder);
    let mut bytes = Vec::with_capacity(RECORD);
    let judged = ledger.promises().map(|(kind, number, version)| {
        let (path, offset) = paths.record(kind, number, bounds.records);
        read(&path, offset, &mut bytes)?;
        Ok((kind, records.judge(kind, number, version, &bytes)))
    });
    judged.collect()
}

/// Reads a record into `bytes`, as much of it as exists.
fn read(path: &Path, offset: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    let file = match File::open(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
        Err(error) if is_damage(&error) => return Ok(()),
        opened => opened?,
    };
    bytes.resize(RECORD, 0);
    let mut length = 0;
    while length < RECORD {
        match file.read_at(&mut bytes[length..], offset + length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::IsADirectory || is_damage(&error) => break,
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(length);
    Ok(())
}

fn is_damage(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|number| DAMAGED.contains(&number))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::ledger::Note;

    #[test]
    fn file_system_damage_is_not_a_test_error() {
        // The numbers of EIO, EBADMSG and EUCLEAN, then EACCES.
        for (number, expected) in [(5, true), (74, true), (117, true), (13, false)] {
            assert_eq!(is_damage(&io::Error::from_raw_os_error(number)), expected, "{number}");
        }
    }

    #[test]
    fn absent_files_are_missing_and_short_ones_torn() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let (records, bounds) = (Records { seed: 3 }, Bounds { records: 4 });
        let mut ledger = Ledger::default();
        for number in 0..3 {
            ledger.note(Note::Acknowledged { kind: Kind::Create, number, version: 1 });
        }
        fs::create_dir(folder.path().join("create")).expect("a folder");
        fs::write(folder.path().join("create/1"), &records.bytes(Kind::Create, 1, 1)[..9000]).expect("a file");
        fs::create_dir(folder.path().join("create/2")).expect("a folder");
        let judged = check(folder.path(), records, bounds, &ledger).expect("it can be read");
        let verdicts: Vec<Verdict> = judged.into_iter().map(|(_, verdict)| verdict).collect();
        assert_eq!(verdicts, [Verdict::Missing, Verdict::Torn, Verdict::Missing]);
    }
}
