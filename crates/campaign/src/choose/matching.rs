//! The tests that a word of --use or --need refers to.

use stats::OperationKind;
use stats::compare::target_comparison::Row;

/// The indices of the programs and phases that a word refers to. The first rule that matches anything counts:
///   1. a program of that name, with all its phases;
///   2. a phase of a program, as in `smallfb.read`;
///   3. programs whose names continue with `_` after the word: `read` matches `read_8192`;
///   4. phases of that name; `create` is `creat`.
pub fn matching(word: &str, keys: &[(&str, &str)]) -> Vec<usize> {
    let way = |(program, phase): &(&str, &str)| match word {
        // 1
        _ if *program == word => Some(1),
        // 2
        _ if word.split_once('.') == Some((*program, *phase)) => Some(2),
        // 3
        _ if program.strip_prefix(word).is_some_and(|rest| rest.starts_with('_')) => Some(3),
        // 4
        _ => (word == *phase || (word, *phase) == ("create", "creat")).then_some(4),
    };
    let first = keys.iter().filter_map(way).min();
    let is_meant = |key: &(&str, &str)| first.is_some() && way(key) == first;
    keys.iter().enumerate().filter(|(_, key)| is_meant(key)).map(|(place, _)| place).collect()
}

/// The indices that a word refers to by [`matching`]. If it matches nothing, a kind of operation may be meant: `fsync`
/// in all rows that have it, or `randwrite.fsync` in some. `has` is true if a row has operations of a kind.
pub fn with_operation(
    word: &str,
    keys: &[(&str, &str)],
    has: impl Fn(usize, OperationKind) -> bool,
) -> (Vec<usize>, Option<OperationKind>) {
    let meant = matching(word, keys);
    let (before, kind) = word.rsplit_once('.').map_or((None, word), |(before, kind)| (Some(before), kind));
    let Some(kind) = OperationKind::named(kind).filter(|_| meant.is_empty()) else { return (meant, None) };
    let rows = before.map_or_else(|| (0..keys.len()).collect(), |before| matching(before, keys));
    (rows.into_iter().filter(|row| has(*row, kind)).collect(), Some(kind))
}

/// The program and the phase of a test, and a kind of operation that it has.
pub type TestOperation = ((&'static str, &'static str), OperationKind);

/// The keys of rows, for [`matching`].
pub fn keys<'a>(rows: &[Row<'a>]) -> Vec<(&'a str, &'a str)> {
    rows.iter().map(|row| (row.key.0, row.key.1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_can_mean_a_kind_of_operation() {
        let keys = [("randrw", "randrw"), ("randwrite", "randwrite")];
        let has = |row: usize, kind| kind == OperationKind::Write || (kind == OperationKind::Fsync && row == 1);
        let found = |word| with_operation(word, &keys, has);
        assert_eq!(found("write"), (vec![0, 1], Some(OperationKind::Write)));
        assert_eq!(found("fsync"), (vec![1], Some(OperationKind::Fsync)));
        assert_eq!(found("randrw.write"), (vec![0], Some(OperationKind::Write)));
        assert_eq!(found("randrw.fsync"), (vec![], Some(OperationKind::Fsync)));
        assert_eq!((found("randrw"), found("commit")), ((vec![0], None), (vec![], None)));
    }

    #[test]
    fn words_match_the_expected_programs() {
        let keys = [
            ("read_8192", "read"),
            ("write_4096", "write"),
            ("write_8192", "write"),
            ("randread", "randread"),
            ("smallfb", "creat"),
            ("smallfb", "read"),
            ("smallfb", "delete"),
        ];
        for (word, meant) in [
            ("read", &[0][..]),
            ("write", &[1, 2]),
            ("randread", &[3]),
            ("smallfb", &[4, 5, 6]),
            ("smallfb.read", &[5]),
            ("create", &[4]),
            ("delete", &[6]),
            ("xyzzy", &[]),
            // A misspelled word matches nothing.
            ("write_4069", &[]),
            ("reads", &[]),
            ("creates", &[]),
        ] {
            assert_eq!(matching(word, &keys), meant, "{word}");
        }
    }
}
