//! Published tables, with the simulated figures under the printed ones.

use stats::compare::replication::{
    Approaches, Assumptions, Comparison, Dependence, Errors, Published, Simulated, Summary, Transactions,
};
use stats::digits::significant;

use crate::page::Page;
use crate::table::{Column, Grid};
use crate::wrap::wrapped;

/// Returns a published table, half by half. Under each printed row are the simulated figure, its error, and its
/// bottleneck. Figures that were not measured or were suspect are not compared: the simulated figure then shows what
/// healthy hardware would have reached.
pub fn table(title: &str, cells: &[&Comparison], page: Page) -> String {
    let mut lines = vec![wrapped(title, page).trim_end().to_owned()];
    for file_system in different(cells, |cell| &cell.file_system) {
        let half: Vec<&Comparison> = cells.iter().copied().filter(|cell| cell.file_system == file_system).collect();
        let heading =
            format!("\nLogically Sequential Transfers from an {file_system} 4.2BSD File System (Kbytes/sec.)");
        lines.push(wrapped(&heading, page).trim_end().to_owned());
        lines.push(part(&half, page));
    }
    lines.join("\n") + "\n"
}

/// Returns one half of a table: the cells of one file system.
fn part(cells: &[&Comparison], page: Page) -> String {
    let columns: Vec<(&str, u32)> = {
        let first = cells.first().map(|cell| &cell.test);
        let row = cells.iter().filter(|cell| Some(&cell.test) == first);
        row.map(|cell| (cell.configuration.as_str(), cell.drives)).collect()
    };
    let headings = columns.iter().map(|(configuration, _)| configuration.replace(" / ", "\n"));
    let mut grid = Grid::new([Column::words("")].into_iter().chain(headings.map(Column::figures)).collect());
    let drives = columns.iter().map(|(_, drives)| format!("{drives} Drive{}", if *drives == 1 { "" } else { "s" }));
    grid.row(["Test".to_owned()].into_iter().chain(drives));
    for test in different(cells, |cell| &cell.test) {
        let row = || cells.iter().filter(|cell| cell.test == test);
        grid.row([test.to_owned()].into_iter().chain(row().map(|cell| printed(&cell.published))));
        grid.row(["  simulated".to_owned()].into_iter().chain(row().map(|cell| computed(&cell.simulated))));
        grid.row([String::new()].into_iter().chain(row().map(|cell| difference(cell))));
    }
    grid.lines(page).join("\n")
}

/// Returns the errors of the cells that count in the judgement.
pub fn summary(summary: &Summary) -> String {
    let errors = |errors: &Errors, unit: &str| {
        format!(
            "median {:.1}{unit}, mean {:.1}{unit}, {} of {} within 10, {} within 20, largest {:.1}{unit}",
            errors.median, errors.mean, errors.within_10, errors.cells, errors.within_20, errors.largest
        )
    };
    format!("rates: {}\nCPU: {}\n", errors(&summary.rate, " %"), errors(&summary.cpu, " points"))
}

/// Returns the errors of cells whose figures no constant was fitted to: the figures to quote.
pub fn held_out(errors: &Summary) -> String {
    format!(
        "Held out: errors of results that the fit did not use. Constants and settings were chosen with the results of \
         one block size and judged with those of the other, in both directions. A setting keeps the value chosen with \
         all results unless another is clearly better:\n\n{}",
        summary(errors)
    )
}

/// Returns a note on the errors: the same cells were used for the fit.
pub fn fit_note(summary: &Summary, constants: usize) -> String {
    format!(
        "These are errors of a fit, not of a prediction: all {} rates and {} CPU shares were used to fit {constants} \
         constants and to choose the settings of the columns. `diskperf paper assumptions` varies the settings and the \
         numbers that were not fitted.\n",
        summary.rate.cells, summary.cpu.cells
    )
}

/// A printed figure: `490 (69%)`, `220 (58%)*`, `320`, `n.m.`
pub(crate) fn printed(figure: &Published) -> String {
    let Some(rate) = figure.kbytes_per_sec else { return "n.m.".to_owned() };
    let cpu = figure.cpu_percent.map_or_else(String::new, |cpu| format!(" ({cpu}%)"));
    let star = if figure.suspect { "*" } else { "" };
    format!("{rate}{cpu}{star}")
}

pub(crate) fn computed(figure: &Simulated) -> String {
    format!("{} ({:.0}%)", significant(figure.kbytes_per_sec, 3), figure.cpu_percent)
}

/// `-3 % cpu`; `predicted, cpu` if there is no printed figure, `healthy, cpu` if the printed figure was suspect.
pub(crate) fn difference(cell: &Comparison) -> String {
    let how = match cell.error_percent {
        _ if cell.published.suspect => "healthy,".to_owned(),
        None => "predicted,".to_owned(),
        Some(error) if error.abs() < 0.5 => "0 %".to_owned(),
        Some(error) => format!("{error:+.0} %"),
    };
    format!("{how} {}", cell.limited_by)
}

/// Returns each distinct word once, in the order of first appearance.
pub(crate) fn different<'a>(cells: &[&'a Comparison], word: fn(&'a Comparison) -> &'a String) -> Vec<&'a str> {
    let mut different: Vec<&str> = Vec::new();
    for cell in cells {
        let word = word(cell).as_str();
        if !different.contains(&word) {
            different.push(word);
        }
    }
    different
}

/// Returns a note for each other table that prints the same measurements, and the figures in which it differs.
pub fn twins(cells: &[&Comparison], all: &[Comparison]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for configuration in different(cells, |cell| &cell.configuration) {
        let own = || cells.iter().filter(|cell| cell.configuration == configuration);
        let Some(first) = own().next() else { continue };
        for table in &first.twins {
            let mut differences = Vec::new();
            for cell in own() {
                let is_twin = |other: &&Comparison| {
                    other.table == *table
                        && other.simulated == cell.simulated
                        && (&other.file_system, other.drives, &other.test)
                            == (&cell.file_system, cell.drives, &cell.test)
                };
                match all.iter().find(is_twin) {
                    Some(twin) if twin.published != cell.published => differences.push(format!(
                        "{} {} x{}: {}",
                        cell.file_system,
                        cell.test,
                        cell.drives,
                        printed(&twin.published)
                    )),
                    _ => {}
                }
            }
            lines.push(match differences.len() {
                0 => format!("{configuration} is also printed in {table}, with the same figures."),
                count => format!(
                    "{configuration} is also printed in {table}, with {count} different figures: {}.",
                    differences.join(", ")
                ),
            });
        }
    }
    if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join("\n")) }
}

/// Returns the controllers ranked by the direct and by the indirect approach, with the bottleneck under each figure.
/// Below it are the ratio of the two controllers that the question compares, and the conclusion.
pub fn approaches(all: &Approaches, page: Page) -> String {
    let ran_with_others = |one: &Transactions, other: &Transactions| {
        (&one.approach, &one.conditions) == (&other.approach, &other.conditions)
    };
    let rows: Vec<&[Transactions]> = all.cells.chunk_by(ran_with_others).collect();
    let headings = rows.first().into_iter().flat_map(|row| row.iter());
    let headings = headings.map(|cell| Column::figures(format!("{}\n{}", cell.computer, cell.configuration)));
    let mut grid = Grid::new([Column::words("")].into_iter().chain(headings).collect());
    let mut before = "";
    for row in rows {
        let Some(first) = row.first() else { continue };
        approach(&mut grid, &mut before, &first.approach, true);
        grid.row([first.conditions.clone()].into_iter().chain(row.iter().map(ranked)));
        grid.row([String::new()].into_iter().chain(row.iter().map(|cell| cell.limited_by.clone())));
    }
    let disks = ["UDA50/RA81\nover SC780/Eagle", "UDA50/Eagle\nover SC780/Eagle"].map(Column::figures);
    let mut ratios = Grid::new([Column::words("on the VAX 11/780")].into_iter().chain(disks).collect());
    let mut before = "";
    for ratio in &all.ratios {
        approach(&mut ratios, &mut before, &ratio.approach, false);
        let figures = [ratio.as_sold, ratio.same_drives].map(|one| with_interval(one.value, one.high));
        ratios.row([ratio.conditions.clone()].into_iter().chain(figures));
    }
    let runs = match all.phases {
        1 => "of one run".to_owned(),
        phases => format!("means of {phases} runs with different starting rotational positions, with 95 % intervals"),
    };
    let heading =
        "Controllers ranked by user files, and by accesses drawn from a mix, on an 8K/1K 4.2BSD File System\n";
    let notes = format!(
        "\nIn parentheses: the rank on that computer, equal if intervals overlap; {runs}. As on VMS, no driver sorts \
         requests. The UDA50 sorts those of all mixes. The mixes are ours: the paper prints none.\n",
    );
    let conclusions = format!("\n{}\n", all.conclusions.join("\n"));
    let lines = |grid: &Grid| format!("\n{}\n", grid.lines(page).join("\n"));
    wrapped(heading, page) + &lines(&grid) + &wrapped(&notes, page) + &lines(&ratios) + &wrapped(&conclusions, page)
}

/// Adds the title of an approach above its first row.
fn approach<'a>(grid: &mut Grid, before: &mut &'a str, name: &'a str, has_units: bool) {
    if *before != name {
        let (title, unit) = match name {
            "direct" => ("direct: the four programs of 1983, mean", "Kbytes/sec."),
            "uniform" => ("indirect, uniform places", "transactions/sec."),
            _ => ("indirect, with locality", "transactions/sec."),
        };
        grid.title(if has_units { format!("{title} ({unit})") } else { title.to_owned() });
    }
    *before = name;
}

/// A rate and its rank: `26.1 +-0.2 (1)`
fn ranked(cell: &Transactions) -> String {
    format!("{} ({})", with_interval(cell.per_second, cell.high), cell.rank)
}

/// `26.1 +-0.2`. The mean of one run has no interval.
fn with_interval(value: f64, high: f64) -> String {
    let half = high - value;
    let interval = if half > 0.0 { format!(" ±{}", significant(half, 1)) } else { String::new() };
    significant(value, 3) + &interval
}

/// A claim of the paper and the verdict on it.
#[derive(Clone, Copy, Debug)]
pub struct Verdict<'a> {
    /// The section of the paper that makes the claim.
    pub section: u32,
    /// The claim, as a sentence.
    pub says: &'a str,
    /// The published figures; empty if there are none.
    pub printed: &'a str,
    /// The simulated figures.
    pub simulated: &'a str,
    /// The verdict in a few words.
    pub verdict: &'a str,
    /// The changes of an assumption that give another verdict; `None` if none was tried.
    pub depends_on: Option<&'a [Dependence]>,
}

/// Returns the claims, one after the other.
pub fn verdicts(claims: &[Verdict], page: Page) -> String {
    let mut text = String::new();
    for (index, claim) in claims.iter().enumerate() {
        text += &format!("{:2}. {} (section {})\n", index + 1, claim.says, claim.section);
        if !claim.printed.is_empty() {
            text += &format!("    printed    {}\n", claim.printed);
        }
        text += &format!("    simulated  {}\n    -> {}\n", claim.simulated, claim.verdict);
        if let Some(others) = claim.depends_on {
            text += &format!("    certainty  {}\n", certainty(others));
        }
    }
    wrapped(&text, page)
}

/// Returns the changed assumptions by the verdict that they give.
fn certainty(others: &[Dependence]) -> String {
    if others.is_empty() {
        return "the same with each other assumption".to_owned();
    }
    let mut verdicts: Vec<&str> = others.iter().map(|other| other.verdict.as_str()).collect();
    verdicts.sort_unstable();
    verdicts.dedup();
    let of = |verdict: &&str| {
        let with = others.iter().filter(|other| other.verdict == **verdict).map(|other| other.with.as_str());
        format!("{verdict} with {}", with.collect::<Vec<&str>>().join(", "))
    };
    verdicts.iter().map(of).collect::<Vec<String>>().join("; ")
}

/// Returns the errors with other values of the numbers and settings that were not fitted, by the kind of assumption.
pub fn assumptions(all: &Assumptions, page: Page) -> String {
    let heading = format!(
        "Mean errors over all {} rates and {} CPU shares with another value of one assumption, without a new fit, from \
         {} starting rotational positions\n",
        all.unchanged.rate.cells, all.unchanged.cpu.cells, all.phases
    );
    let mut grid =
        Grid::new(vec![Column::words(""), Column::figures("now"), Column::figures("rate"), Column::figures("CPU")]);
    let errors = |errors: &Summary| [format!("{:.2} %", errors.rate.mean), format!("{:.2} points", errors.cpu.mean)];
    let row =
        |name: String, own: &str, summary: &Summary| [vec![name, own.to_owned()], errors(summary).into()].concat();
    grid.row(row("unchanged".to_owned(), "", &all.unchanged));
    for kind in all.changed.chunk_by(|one, other| one.kind == other.kind) {
        grid.title(kind[0].kind.clone());
        for one in kind {
            // The part tells what kind of field it is.
            let key = one.field.rsplit('.').next().unwrap_or(&one.field);
            grid.row(row(format!("{key}={} ({})", one.other, one.part), &one.own, &one.errors));
        }
    }
    format!("{}\n{}\n", wrapped(&heading, page), grid.lines(page).join("\n"))
}

/// Returns rows of text under their headings, if there are any. Columns of numbers are aligned right.
pub fn grid(headings: &[String], rows: &[Vec<String>], page: Page) -> String {
    let is_number = |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '-');
    let columns = (0..rows.iter().map(Vec::len).max().unwrap_or(0)).map(|index| {
        let heading = headings.get(index).cloned().unwrap_or_default();
        let are_numbers = index > 0 && rows.iter().filter_map(|row| row.get(index)).all(is_number);
        if are_numbers { Column::figures(heading) } else { Column::words(heading) }
    });
    let mut grid = Grid::new(columns.collect());
    rows.iter().for_each(|row| grid.row(row.iter().map(String::as_str)));
    grid.lines(page).join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use stats::compare::replication::Assumed;

    use super::*;

    #[test]
    fn other_verdicts_are_grouped() {
        let other = |with: &str, verdict: &str| Dependence { with: with.to_owned(), verdict: verdict.to_owned() };
        let others = [other("a", "disagrees"), other("b", "agrees"), other("c", "disagrees")];
        assert_eq!(certainty(&others), "agrees with b; disagrees with a, c");
        assert_eq!(certainty(&[]), "the same with each other assumption");
    }

    #[test]
    fn assumptions_are_listed_by_kind_below_the_errors_as_they_are() {
        let errors = |mean: f64| {
            let errors = Errors::from_errors([mean].into_iter()).expect("one");
            Summary { rate: errors, cpu: errors }
        };
        let one = |kind: &str, other: &str, mean: f64| Assumed {
            kind: kind.to_owned(),
            field: "controller.finish".to_owned(),
            part: "sc780".to_owned(),
            own: "100us".to_owned(),
            other: other.to_owned(),
            errors: errors(mean),
        };
        let changed = vec![one("guess", "50us", 5.0), one("guess", "200us", 6.0), one("setting", "1us", 7.0)];
        let text = assumptions(&Assumptions { phases: 5, unchanged: errors(4.0), changed }, Page::ENDLESS);
        let lines: Vec<&str> = text.lines().skip_while(|line| !line.is_empty()).skip(1).collect();
        assert!(lines[1].starts_with(" unchanged") && lines[1].contains("4.00 %"), "{text}");
        assert!(lines[3].contains("finish=50us (sc780)") && lines[4].contains("6.00 points"), "{text}");
        assert_eq!(lines.iter().filter(|line| ["guess", "setting"].contains(&line.trim())).count(), 2, "{text}");
        assert!(text.contains("all 1 rates") && text.contains("from 5 starting"), "{text}");
    }

    #[test]
    fn the_note_counts_what_is_in_the_fit() {
        let errors = Errors::from_errors([1.0, 2.0].into_iter()).expect("two");
        let note = fit_note(&Summary { rate: errors, cpu: errors }, 14);
        assert!(note.contains("all 2 rates and 2 CPU shares") && note.contains("14 constants"), "{note}");
    }
}
