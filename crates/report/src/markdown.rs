//! A run as Markdown, with the content of the plain table. For pull requests and web pages.

use stats::Document;

use crate::compare::target_comparison;
use crate::devices::predict::check_lines;
use crate::layouts::plain::{Rows, legend};
use crate::markdown_escape::escaped;
use crate::presentation::Presentation;
use crate::table::Grid;
use crate::{header, shell};

/// Returns the run under a heading: findings, a table, its warnings. A folded part has the machine, the command, and
/// all figures if the table above has others.
pub fn markdown(name: &str, document: &Document, presentation: Presentation) -> String {
    let run = &document.run;
    let mut text = format!("## {}\n\n", escaped(name));
    let found = match &run.choice {
        Some(choice) => {
            target_comparison::verdict(document, choice) + "\n" + &target_comparison::not_asked(&document.run.targets)
        }
        None => run.findings.join("\n") + "\n" + &check_lines(&run.checks),
    };
    if let Some(interrupted) = header::interrupted(document) {
        text += &format!("**{}**\n\n", escaped(&interrupted));
    }
    for (place, line) in found.lines().enumerate() {
        let words = escaped(line.trim_start());
        text += &if place == 0 { format!("**{words}**\n\n") } else { format!("- {words}\n") };
    }
    for problem in &run_problems(document) {
        text += &format!("- {}\n", escaped(problem));
    }
    text += if text.ends_with("\n\n") { "" } else { "\n" };
    let all = cells(document);
    let chosen = run.choice.as_ref().filter(|_| !document.cells.is_empty());
    text += &chosen.map_or_else(|| all.clone(), |choice| target_comparison::page_grid(document, choice).markdown());
    text += "\n";
    let below = legend(&document.cells) + header::not_measured(&text) + &header::footnotes(document);
    for line in below.lines().filter(|line| !line.is_empty()) {
        // The escape keeps Markdown from making a list of the star before a mark.
        text += &format!("- {}\n", escaped(line));
    }
    text += "\n<details><summary>Machine, figures, command</summary>\n\n";
    for line in header::lines(document, presentation.layout).lines() {
        text += &format!("- {}\n", escaped(line));
    }
    if run.choice.is_some() && !all.is_empty() {
        text += &format!("\n{all}");
    }
    text + &format!("\n{}\n</details>\n", fenced("shell", &shell::line(&run.command)))
}

/// Returns a line for each error of the run.
fn run_problems(document: &Document) -> Vec<String> {
    let line = |problem: &stats::Problem| {
        format!("error: {} {}", header::place(problem), problem.message).replacen("  ", " ", 1)
    };
    document.errors.iter().map(line).collect()
}

/// Returns a table with a row for each cell, without empty columns; empty if the document has no cells.
fn cells(document: &Document) -> String {
    if document.cells.is_empty() {
        return String::new();
    }
    let rows = Rows::from_document(document);
    Grid::filled(&rows.columns(), rows.rows()).markdown()
}

/// Returns the text between fences that are longer than any run of backticks in it.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{text}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_stands_in_it() {
        assert_eq!(fenced("shell", "a ``` b"), "````shell\na ``` b\n````\n");
    }
}
