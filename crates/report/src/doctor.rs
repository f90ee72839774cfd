//! The checks of `doctor`, as text.

use stats::{Ability, Checkup};

use crate::page::Page;
use crate::sanitize::line;
use crate::wrap::hanging;

/// Width of the column of states, including the gap to the reason.
const STATE: usize = 8;

/// A paragraph per check: its name, its state, the reason, and how to fix it.
pub fn table(checkup: &Checkup, page: Page) -> String {
    let width = checkup.checks.iter().map(|check| check.check.chars().count()).max().unwrap_or(0) + 2;
    let mut text = format!("{}  {}\n\n", line(&checkup.path), line(&checkup.kernel));
    text += &format!("{:width$}{:STATE$}why\n", "check", "here");
    for check in &checkup.checks {
        let label = format!("{:width$}{}", check.check, check.state.name());
        text += &hanging(page, &label, width + STATE, &line(&check.why));
        if let Some(how) = &check.how {
            text += &hanging(page, &format!("{:indent$}->", "", indent = width + STATE), width + STATE + 3, &line(how));
        }
    }
    let count = |ability: Ability| checkup.checks.iter().filter(|check| check.state == ability).count();
    let [yes, partly, no] = [Ability::Yes, Ability::Partly, Ability::No].map(count);
    text + &format!("\n{yes} yes, {partly} partly, {no} no; -> tells how to fix it\n")
}

#[cfg(test)]
mod tests {
    use stats::Check;

    use super::*;

    #[test]
    fn every_check_tells_how_to_fix_it() {
        let check = |check: &str, state, how: Option<&str>| Check {
            check: check.to_owned(),
            state,
            why: "because of this and that".to_owned(),
            how: how.map(str::to_owned),
        };
        let checkup = Checkup {
            schema: String::new(),
            version: String::new(),
            kernel: "Linux 6".to_owned(),
            path: ".".to_owned(),
            checks: vec![check("a", Ability::Yes, None), check("a longer one", Ability::No, Some("do it"))],
        };
        let expected = "\
.  Linux 6

check         here    why
a             yes     because of this and that
a longer one  no      because of this and that
                      -> do it

1 yes, 0 partly, 1 no; -> tells how to fix it
";
        assert_eq!(table(&checkup, Page::ENDLESS), expected);
    }
}
