//! The permitted licences of our dependencies, including those of tests.

use cargo_metadata::Package;

use super::Finding;

/// Licences that require no more than attribution. No copyleft. Public domain only if another licence is offered too,
/// because some countries do not recognize it.
const ALLOWED: [&str; 9] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
];

/// Each package and its licence.
pub fn packages(packages: &[Package]) -> Vec<(String, Option<String>)> {
    packages.iter().map(|package| (format!("{} {}", package.name, package.version), package.license.clone())).collect()
}

/// Finds packages that may not be used.
pub fn check(packages: &[(String, Option<String>)]) -> Vec<Finding> {
    packages
        .iter()
        .filter_map(|(package, licence)| match licence {
            None => Some(Finding::new(package, "names no licence")),
            Some(licence) => match allowed(licence) {
                Ok(true) => None,
                Ok(false) => Some(Finding::new(package, format!("its licence is not on our list: {licence}"))),
                Err(problem) => Some(Finding::new(package, format!("its licence cannot be read: {problem}"))),
            },
        })
        .collect()
}

/// Returns whether a licence expression (SPDX, annex D) can be met: one side of an OR, or both sides of an AND. Older
/// packages write `/` for OR.
fn allowed(expression: &str) -> Result<bool, String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().collect::<Vec<_>>().into_iter().peekable();
    let met = any(&mut words)?;
    match words.next() {
        None => Ok(met),
        Some(word) => Err(format!("nothing may follow where {word} stands in {expression}")),
    }
}

type Words<'a> = std::iter::Peekable<std::vec::IntoIter<&'a str>>;

/// Parses an OR, which binds weakest.
fn any(words: &mut Words) -> Result<bool, String> {
    let mut met = all(words)?;
    while words.next_if_eq(&"OR").is_some() {
        met |= all(words)?;
    }
    Ok(met)
}

/// Parses an AND, which binds tighter than OR.
fn all(words: &mut Words) -> Result<bool, String> {
    let mut met = one(words)?;
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words)?;
    }
    Ok(met)
}

/// Parses a licence, with its exception, or an expression in parentheses.
fn one(words: &mut Words) -> Result<bool, String> {
    match words.next() {
        Some("(") => {
            let met = any(words)?;
            words.next_if_eq(&")").map(|_| met).ok_or_else(|| "a parenthesis is not closed".to_owned())
        }
        None | Some("OR" | "AND" | "WITH" | ")") => Err("a licence is missing".to_owned()),
        Some(licence) => match words.next_if_eq(&"WITH") {
            None => Ok(ALLOWED.contains(&licence)),
            Some(_) => {
                let exception = words.next().ok_or("an exception is missing")?;
                Ok(ALLOWED.contains(&format!("{licence} WITH {exception}").as_str()))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_allowed_side_of_an_or_is_enough() {
        for expression in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "Unlicense OR MIT",
            "(MIT OR GPL-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
        ] {
            assert_eq!(allowed(expression), Ok(true), "{expression}");
        }
    }

    #[test]
    fn both_sides_of_an_and_must_be_allowed() {
        for expression in [
            "GPL-3.0-only",
            "MPL-2.0",
            "MIT AND GPL-2.0",
            "Unlicense",
            "MIT AND (CC0-1.0 OR LGPL-3.0)",
            "Apache-2.0 WITH X",
        ] {
            assert_eq!(allowed(expression), Ok(false), "{expression}");
        }
    }

    #[test]
    fn unreadable_licences_are_not_allowed() {
        for expression in ["", "MIT OR", "(MIT", "MIT Apache-2.0", "AND MIT"] {
            assert!(allowed(expression).is_err(), "{expression}");
        }
        let packages = [("a 1.0.0".to_owned(), None), ("b 1.0.0".to_owned(), Some("MIT".to_owned()))];
        assert_eq!(check(&packages), [Finding::new("a 1.0.0", "names no licence")]);
    }
}
