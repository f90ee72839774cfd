//! The constants of a device, as a table.

use stats::probe::Row;

use crate::page::Page;
use crate::sanitize::line;
use crate::wrap::hanging;

/// The headings of the columns before the reason.
const HEADINGS: [&str; 4] = ["constant", "value", "low-high", "samples"];

/// A line per constant: its value, bracket and samples, or the reason why it is not measured.
pub fn table(target: &str, rows: &[Row], page: Page) -> String {
    let samples = |row: &Row| row.estimate.map_or_else(String::new, |estimate| estimate.samples.to_string());
    let cells = |row: &Row| [row.constant.clone(), row.value(), row.bracket(), samples(row)];
    let lines: Vec<[String; 4]> = rows.iter().map(cells).collect();
    let width = |column: usize| {
        let longest = lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0);
        longest.max(HEADINGS[column].chars().count())
    };
    let widths = [0, 1, 2, 3].map(width);
    let text = |cells: &[&str; 4]| {
        let [constant, value, bracket, samples] = cells;
        let [first, second, third, fourth] = widths;
        format!("{constant:first$}  {value:>second$}  {bracket:>third$}  {samples:>fourth$}")
    };
    let mut table = format!("{}\n\n{}\n", line(target), text(&HEADINGS));
    for (row, cells) in rows.iter().zip(&lines) {
        match &row.why {
            // The reason follows n.m., in the place of the other columns.
            Some(why) => {
                let [first, second, ..] = widths;
                let label = format!("{:first$}  {:>second$}", cells[0], cells[1]);
                table += &hanging(page, &label, first + second + 4, &line(why));
            }
            None => table += &format!("{}\n", text(&cells.each_ref().map(String::as_str))),
        }
    }
    let measured = rows.iter().filter(|row| row.estimate.is_some()).count();
    table + &format!("\n{measured} of {} constants measured\n", rows.len())
}

#[cfg(test)]
mod tests {
    use stats::probe::{Estimate, NotMeasured};

    use super::*;

    #[test]
    fn constants_have_a_value_or_a_reason() {
        let estimate = Estimate { value: 1_094_000.0, low: 1_090_000.0, high: 1_100_000.0, samples: 40 };
        let rows = [
            Row::new("read latency 4 KiB", Ok(estimate), 1e-3, "us"),
            Row::new("write cache", Err(NotMeasured::Hidden("the rate did not change")), 1.0, "MiB"),
        ];
        let expected = "\
sim:gp3

constant               value     low-high  samples
read latency 4 KiB  1,094 us  1,090-1,100       40
write cache             n.m.  the rate did not change

1 of 2 constants measured
";
        assert_eq!(table("sim:gp3", &rows, Page::ENDLESS), expected);
    }
}
