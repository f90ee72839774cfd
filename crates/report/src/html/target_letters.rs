//! Colours of the alternatives on the page, and letters instead of names that are too long for a table or a chart.

use std::borrow::Cow;

use maud::{Markup, html};
use stats::{Comparison, Document, Mark};

use crate::chart::colour;
use crate::header;
use crate::presentation::Layout;

/// The longest name that tables and charts print, in characters. Six columns of it fit on a laptop. A choice.
const LONGEST: usize = 14;

/// The letter of a target, by its index: `A`, `B`, ... `Z`, `A2`, ...
fn letter(place: usize) -> String {
    let letter = char::from(b'A' + (place % 26) as u8);
    if place < 26 { letter.to_string() } else { format!("{letter}{}", place / 26 + 1) }
}

/// A document as the page shows it. If there are several targets and one has a long name, they are called A, B, C.
pub struct ShownDocument<'a> {
    original: &'a Document,
    shown: Cow<'a, Document>,
}

impl<'a> ShownDocument<'a> {
    /// Replaces the names with letters if this document needs it.
    pub fn from_document(original: &'a Document) -> ShownDocument<'a> {
        let names: Vec<&str> = original.run.targets.iter().map(|target| target.name.as_str()).collect();
        let is_lettered = names.len() > 1 && names.iter().any(|name| name.chars().count() > LONGEST);
        let shown = if is_lettered { Cow::Owned(lettered(original, &names)) } else { Cow::Borrowed(original) };
        ShownDocument { original, shown }
    }

    /// The document with the names that tables and charts use.
    pub fn document(&self) -> &Document {
        &self.shown
    }

    /// True if letters replace the names.
    pub fn is_lettered(&self) -> bool {
        matches!(self.shown, Cow::Owned(_))
    }

    /// Returns the names of the targets with their letters and arguments.
    pub fn key(&self) -> Markup {
        html! {
            ul class="where" {
                @for (place, target) in self.original.run.targets.iter().enumerate() {
                    li { (chip(place, &letter(place))) " " b { (target.name) } " " (target.argument) }
                }
            }
        }
    }

    /// A line for each target, with its colour and letter if there are several; then the machine.
    pub fn lines(&self, layout: Layout) -> Markup {
        let targets = &self.original.run.targets;
        let lines = header::lines(self.original, layout);
        let line = |(place, line): (usize, &str)| {
            let name = targets.get(place).map(|target| target.name.as_str()).filter(|name| line.starts_with(name));
            html! {
                li {
                    @if let Some(name) = name {
                        @if targets.len() > 1 { (chip(place, &letter(place))) " " }
                        b { (name) } " "
                        (line[name.len()..].replace("  on  ", " on ").trim_start().replace("  ", " · "))
                    } @else { (line) }
                }
            }
        };
        html! { ul class="where" { @for each in lines.lines().enumerate() { (line(each)) } } }
    }
}

/// A square of the alternative's colour with its letter.
fn chip(place: usize, letter: &str) -> Markup {
    html! { span class={ "chip " (colour(place)) } { (letter) } }
}

/// The document with letters for the names of its targets.
fn lettered(original: &Document, names: &[&str]) -> Document {
    let mut document = original.clone();
    let new = Letters { names };
    for target in &mut document.run.targets {
        new.name(&mut target.name);
    }
    for cell in &mut document.cells {
        new.name(&mut cell.target);
        new.marks(&mut cell.marks);
        cell.rounds.iter_mut().for_each(|round| new.marks(&mut round.marks));
    }
    document.run.findings.iter_mut().for_each(|finding| new.sentence(finding));
    document.run.remarks.iter_mut().filter_map(|remark| remark.target.as_mut()).for_each(|name| new.name(name));
    if let Some(choice) = &mut document.run.choice {
        let of_use = choice.purpose.iter_mut().flat_map(|purpose| &mut purpose.comparisons);
        choice.comparisons.iter_mut().chain(of_use).for_each(|pair| new.comparison(pair));
        choice.stages.iter_mut().for_each(|stage| new.name(&mut stage.target));
        choice.needs.iter_mut().for_each(|need| new.name(&mut need.target));
        choice.prices.iter_mut().for_each(|price| new.name(&mut price.target));
        choice.remarks.iter_mut().for_each(|remark| new.sentence(remark));
    }
    document.errors.iter_mut().filter_map(|problem| problem.target.as_mut()).for_each(|name| new.name(name));
    document
}

/// Words of our sentences that could also be the name of a target.
const WORDS: [&str; 12] = ["a", "an", "and", "as", "at", "both", "device", "in", "is", "it", "on", "the"];

/// True if the character can be part of a name.
fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || "-_/.".contains(character)
}

/// Replaces names with letters.
struct Letters<'a> {
    names: &'a [&'a str],
}

impl Letters<'_> {
    fn find_letter(&self, name: &str) -> Option<String> {
        self.names.iter().position(|known| *known == name).map(letter)
    }

    /// Replaces a name, or the names of several targets that ran at once: `a+b`.
    fn name(&self, name: &mut String) {
        if let Some(letter) = self.find_letter(name) {
            *name = letter;
        } else if let Some(letters) = name.split('+').map(|one| self.find_letter(one)).collect::<Option<Vec<String>>>()
        {
            *name = letters.join("+");
        }
    }

    /// Replaces names in a sentence if they are whole words. A name that is also a word of our sentences is kept.
    fn sentence(&self, sentence: &mut String) {
        let mut changed = String::with_capacity(sentence.len());
        let mut rest = sentence.as_str();
        while let Some(first) = rest.chars().next() {
            let is_begun = changed.chars().next_back().is_none_or(|before| !is_of_name(before));
            let starts = |(_, name): &(usize, &&str)| {
                let after = rest.strip_prefix(**name).map(|after| after.chars().next());
                after.is_some_and(|after| after.is_none_or(|after| !is_of_name(after))) && !WORDS.contains(*name)
            };
            let found = self.names.iter().enumerate().filter(starts).max_by_key(|(_, name)| name.len());
            match found.filter(|_| is_begun) {
                Some((place, name)) => {
                    changed += &letter(place);
                    rest = &rest[name.len()..];
                }
                None => {
                    changed.push(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        *sentence = changed;
    }

    fn marks(&self, marks: &mut [Mark]) {
        marks.iter_mut().for_each(|mark| self.sentence(&mut mark.text));
    }

    fn comparison(&self, pair: &mut Comparison) {
        [&mut pair.first, &mut pair.second].into_iter().chain(&mut pair.faster).for_each(|name| self.name(name));
        pair.why.iter_mut().for_each(|why| self.sentence(why));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([0, 25, 26, 53].map(letter), ["A", "Z", "A2", "B3"]);
    }

    #[test]
    fn names_become_letters_alone_together_and_in_sentences() {
        let names = ["/mnt/a-long-folder", "/mnt/a-long-folder-too", "B"];
        let new = Letters { names: &names };
        let renamed = |name: &str| {
            let mut name = name.to_owned();
            new.name(&mut name);
            name
        };
        assert_eq!(
            ["B", "/mnt/a-long-folder", "B+/mnt/a-long-folder-too", "other"].map(renamed),
            ["C", "A", "C+B", "other"]
        );
        let mut sentence = "/mnt/a-long-folder-too costs as much as /mnt/a-long-folder or B".to_owned();
        new.sentence(&mut sentence);
        assert_eq!(sentence, "B costs as much as A or C");
    }
}
