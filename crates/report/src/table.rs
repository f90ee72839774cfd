//! A text table that fits its page. Rows of text in, lines out; it does not depend on cells.
//!
//! Policy if the page is too narrow for all columns:
//!   1. an empty column is never printed;
//!   2. words continue on the next line: names of rows that are longer than a quarter of the page, then the widest
//!      columns of words. Names shrink to 14 characters at least, others to 24;
//!   3. on a terminal, optional columns are left out, the least important first, until the rest fits, and a remark
//!      names them. A file or a pipe gets all columns;
//!   4. columns that are still too wide go into blocks below each other, each with the leading columns;
//!   5. a block has at least one column next to the leading ones: on a page that is narrower than that, lines are
//!      longer than the page, and a remark says so.

use comfy_table::{CellAlignment, Table, TableStyle};

use crate::markdown_escape::escaped;
use crate::page::Page;
use crate::sanitize;
use crate::wrap::wrapped;

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    heading: String,
    is_right: bool,
    /// Rank of an optional column: the highest is left out first. `None` if the column is always printed.
    left_out: Option<u8>,
}

impl Column {
    /// A column of words, aligned left.
    pub fn words(heading: impl Into<String>) -> Column {
        Column { heading: heading.into(), is_right: false, left_out: None }
    }

    /// A column of figures, aligned right.
    pub fn figures(heading: impl Into<String>) -> Column {
        Column { is_right: true, ..Column::words(heading) }
    }

    /// Makes the column optional. A column of a higher rank is left out earlier.
    pub fn left_out(self, rank: u8) -> Column {
        Column { left_out: Some(rank), ..self }
    }

    /// The heading; a `\n` in it breaks the line.
    pub fn heading(&self) -> &str {
        &self.heading
    }

    /// True if the column holds figures, which are aligned right.
    pub fn is_right(&self) -> bool {
        self.is_right
    }
}

/// A column of a table with rows of type `T`: its heading, and the function that returns its text in a row. Tables on
/// pages have a [`Column`] as the heading, CSV has a word.
pub type Field<T, H = &'static str> = (H, fn(&T) -> String);

/// Returns the text of each column in a row.
pub fn texts<T, H>(columns: &[Field<T, H>], row: &T) -> impl Iterator<Item = String> {
    columns.iter().map(move |(_, text)| text(row))
}

/// A line of a table.
#[derive(Clone, Debug)]
pub enum Line {
    /// A text for each column, or for the first ones.
    Row(Vec<String>),
    /// The title of the rows below it.
    Title(String),
}

/// Names of at most this many characters stay in one line, however narrow the page is.
const SHORTEST: usize = 14;

/// Other words of at most this many characters stay in one line: a verdict with its interval.
const SHORTEST_WORDS: usize = 24;

/// A table.
#[derive(Clone, Debug)]
pub struct Grid {
    columns: Vec<Column>,
    /// The number of columns that name the row. Every block repeats them.
    leading: usize,
    lines: Vec<Line>,
}

impl Grid {
    /// Makes a table without rows, whose first column names them.
    pub fn new(columns: Vec<Column>) -> Grid {
        Grid { columns, leading: 1, lines: Vec::new() }
    }

    /// Makes a table of these rows.
    pub fn filled<T>(columns: &[Field<T, Column>], rows: impl IntoIterator<Item = T>) -> Grid {
        let mut grid = Grid::new(columns.iter().map(|(column, _)| column.clone()).collect());
        rows.into_iter().for_each(|row| grid.row(texts(columns, &row)));
        grid
    }

    /// Sets the number of columns that name the rows.
    pub fn leading(self, leading: usize) -> Grid {
        Grid { leading, ..self }
    }

    /// Adds a row: a text of one line for each column.
    pub fn row(&mut self, row: impl IntoIterator<Item = impl Into<String>>) {
        let plain = |text: String| sanitize::line(&text).into_owned();
        self.lines.push(Line::Row(row.into_iter().map(|text| plain(text.into())).collect()));
    }

    /// Adds a title above the rows that follow.
    pub fn title(&mut self, title: impl Into<String>) {
        self.lines.push(Line::Title(sanitize::line(&title.into()).into_owned()));
    }

    /// Returns the columns that have any text, and all lines with the texts of these columns. For pages that do not
    /// count columns of characters, such as HTML.
    pub fn contents(&self) -> (Vec<&Column>, Vec<Line>) {
        let shown: Vec<usize> = (0..self.columns.len()).filter(|&column| self.says_anything(column)).collect();
        let of_line = |line: &Line| match line {
            Line::Row(row) => {
                Line::Row(shown.iter().map(|column| row.get(*column).cloned().unwrap_or_default()).collect())
            }
            Line::Title(title) => Line::Title(title.clone()),
        };
        (shown.iter().map(|column| &self.columns[*column]).collect(), self.lines.iter().map(of_line).collect())
    }

    fn fits(&self, page: Page, columns: &[usize]) -> bool {
        self.width(columns) <= page.width()
    }

    /// Returns the table as lines that fit the page.
    pub fn lines(&self, page: Page) -> Vec<String> {
        // 1.
        let shown: Vec<usize> = (0..self.columns.len()).filter(|&column| self.says_anything(column)).collect();
        self.squeezed(&shown, page).fitted(shown, page, self)
    }

    /// 2. Returns the table with words broken into several lines, so that these columns fit the page if possible.
    fn squeezed(&self, shown: &[usize], page: Page) -> Grid {
        if self.fits(page, shown) {
            return self.clone();
        }
        let mut limits = vec![usize::MAX; self.columns.len()];
        limits[0] = (page.width() / 4).max(SHORTEST);
        let mut least = vec![SHORTEST_WORDS; self.columns.len()];
        least[0] = SHORTEST;
        let mut grid = self.broken(&limits);
        while let Some(over) = grid.width(shown).checked_sub(page.width()).filter(|over| *over > 0) {
            let words = shown.iter().copied().filter(|column| !self.columns[*column].is_right);
            let lengths = words.map(|column| (grid.longest(column), column));
            let Some((length, column)) = lengths.filter(|(length, column)| *length > least[*column]).max() else {
                break;
            };
            limits[column] = length.saturating_sub(over).max(least[column]);
            grid = self.broken(&limits);
            // A word that is longer than the limit cannot be broken.
            if grid.longest(column) >= length {
                least[column] = length;
            }
        }
        grid
    }

    /// Returns the table in Markdown, without empty columns.
    pub fn markdown(&self) -> String {
        let (columns, lines) = self.contents();
        let line = |words: Vec<String>| format!("| {} |\n", words.join(" | "));
        let ruler = |column: &&Column| if column.is_right { "---:" } else { "---" }.to_owned();
        let mut text = line(columns.iter().map(|column| escaped(&column.heading)).collect());
        text += &line(columns.iter().map(ruler).collect());
        for row in &lines {
            text += &match row {
                Line::Row(row) => line(row.iter().map(|word| escaped(word)).collect()),
                // A title goes into the first column of its own row.
                Line::Title(title) => {
                    line(std::iter::once(escaped(title)).chain(columns.iter().skip(1).map(|_| String::new())).collect())
                }
            };
        }
        text
    }

    /// Returns these columns as lines that fit the page. Each block breaks the words of the whole table for its own
    /// width.
    fn fitted(&self, mut shown: Vec<usize>, page: Page, whole: &Grid) -> Vec<String> {
        // 3.
        let mut left_out: Vec<usize> = Vec::new();
        while page.columns.is_some() && !self.fits(page, &shown) {
            let rank = |column: &usize| self.columns[*column].left_out.map(|rank| (rank, *column));
            let Some((_, least)) = shown.iter().filter_map(rank).max() else { break };
            shown.retain(|column| *column != least);
            left_out.push(least);
        }
        // 4.
        let blocks = self.blocks(&shown, page);
        let mut lines: Vec<String> = Vec::new();
        for (number, block) in blocks.iter().enumerate() {
            if number > 0 {
                lines.push(String::new());
            }
            lines.extend(whole.squeezed(block, page).block(block));
        }
        left_out.sort_unstable();
        let names: Vec<&str> = left_out.iter().map(|column| self.columns[*column].heading.as_str()).collect();
        // 5.
        let is_broken = blocks.iter().any(|block| !self.fits(page, block));
        if let Some(remark) = remark(page, &names, is_broken) {
            lines.push(String::new());
            lines.extend(wrapped(&remark, page).lines().map(str::to_owned));
        }
        lines
    }

    /// Returns the columns of each block; each block begins with the leading ones.
    fn blocks(&self, shown: &[usize], page: Page) -> Vec<Vec<usize>> {
        let (leading, others): (Vec<usize>, Vec<usize>) = shown.iter().partition(|column| **column < self.leading);
        let mut blocks = vec![leading.clone()];
        for column in others {
            let last = blocks.last_mut().expect("there is one from the beginning");
            let wider = [last.as_slice(), &[column]].concat();
            if last.len() > leading.len() && !self.fits(page, &wider) {
                blocks.push([leading.as_slice(), &[column]].concat());
            } else {
                *last = wider;
            }
        }
        blocks
    }

    /// Returns the lines of these columns.
    fn block(&self, columns: &[usize]) -> Vec<String> {
        let mut table = Table::new();
        table.load_style(TableStyle::new());
        let headings = self.headings(columns);
        let above = if headings.iter().all(|heading| heading.is_empty()) {
            0
        } else {
            table.set_header(&headings);
            headings.iter().map(|heading| heading.matches('\n').count() + 1).max().unwrap_or(1)
        };
        // A row whose only texts are in other blocks is left out of this one.
        let is_shown = |line: &&Line| match line {
            Line::Row(row) => columns.iter().any(|column| row.get(*column).is_some_and(|text| !text.is_empty())),
            Line::Title(_) => true,
        };
        for line in self.lines.iter().filter(is_shown) {
            if let Line::Row(row) = line {
                table.add_row(columns.iter().map(|column| row.get(*column).map_or("", String::as_str)));
            }
        }
        for (place, column) in columns.iter().enumerate() {
            if let Some(place) = table.column_mut(place).filter(|_| self.columns[*column].is_right) {
                place.set_cell_alignment(CellAlignment::Right);
            }
        }
        let mut rows = table.lines().map(|line| line.trim_end().to_owned());
        let mut lines: Vec<String> = rows.by_ref().take(above).collect();
        lines.extend(self.lines.iter().filter(is_shown).filter_map(|line| match line {
            Line::Row(_) => rows.next(),
            Line::Title(title) => Some(title.clone()),
        }));
        lines
    }

    /// Returns the headings of adjacent columns; a heading that repeats is printed above the first of them only.
    fn headings(&self, columns: &[usize]) -> Vec<&str> {
        let heading = |place: usize| self.columns[columns[place]].heading.as_str();
        let is_repeated = |place: usize| place > 0 && heading(place) == heading(place - 1);
        (0..columns.len()).map(|place| if is_repeated(place) { "" } else { heading(place) }).collect()
    }

    /// Returns the table with texts broken into lines if they are longer than their column's limit.
    fn broken(&self, limits: &[usize]) -> Grid {
        let mut lines = Vec::new();
        for line in &self.lines {
            let Line::Row(row) = line else {
                lines.push(line.clone());
                continue;
            };
            let in_column = |(column, text): (usize, &String)| match self.columns.get(column) {
                Some(words) if !words.is_right => in_lines(text, limits[column]),
                _ => vec![text.clone()],
            };
            let texts: Vec<Vec<String>> = row.iter().enumerate().map(in_column).collect();
            let deep = texts.iter().map(Vec::len).max().unwrap_or(1);
            let of_line =
                |place: usize| texts.iter().map(|text| text.get(place).cloned().unwrap_or_default()).collect();
            lines.extend((0..deep).map(|place| Line::Row(of_line(place))));
        }
        Grid { lines, ..self.clone() }
    }

    /// Returns the length of the longest text of a column, in characters.
    fn longest(&self, column: usize) -> usize {
        let of_line = |line: &Line| match line {
            Line::Row(row) => row.get(column).map_or(0, |text| text.chars().count()),
            Line::Title(_) => 0,
        };
        self.lines.iter().map(of_line).max().unwrap_or(0)
    }

    /// Returns the width of these columns side by side. Computed without building a table, because it is called often.
    fn width(&self, columns: &[usize]) -> usize {
        let of_heading = |heading: &str| heading.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        let headings = self.headings(columns).into_iter().map(of_heading);
        let texts: usize =
            columns.iter().zip(headings).map(|(column, heading)| self.longest(*column).max(heading)).sum();
        let titles = self.lines.iter().filter_map(|line| match line {
            Line::Title(title) => Some(title.chars().count()),
            Line::Row(_) => None,
        });
        // One space before the first column, two before each other one.
        titles.max().unwrap_or(0).max((texts + 2 * columns.len()).saturating_sub(1))
    }

    fn says_anything(&self, column: usize) -> bool {
        self.lines.iter().any(|line| match line {
            Line::Row(row) => row.get(column).is_some_and(|text| !text.is_empty()),
            Line::Title(_) => false,
        })
    }
}

/// Breaks words into lines of this length; a list with commas is broken only after them.
fn in_lines(words: &str, columns: usize) -> Vec<String> {
    const BOUND: char = '\u{a0}';
    if words.chars().count() <= columns {
        return vec![words.to_owned()];
    }
    let is_list = words.contains(", ");
    let bound = if is_list {
        words.replace(' ', &BOUND.to_string()).replace(&format!(",{BOUND}"), ", ")
    } else {
        words.to_owned()
    };
    let lines = wrapped(&bound, Page { columns: Some(columns) });
    let lines: Vec<String> = lines.lines().map(|line| line.replace(BOUND, " ")).collect();
    // A part between two commas that is much too long is broken like other words.
    if is_list && lines.iter().any(|line| line.chars().count() > columns + SHORTEST / 2) {
        return wrapped(words, Page { columns: Some(columns) }).lines().map(str::to_owned).collect();
    }
    lines
}

/// Returns the remark below a table that does not fit its page; `None` if the table fits or the page is a file.
fn remark(page: Page, left_out: &[&str], is_broken: bool) -> Option<String> {
    let columns = page.columns?;
    let names = || left_out.join(", ").replace('\n', " ");
    let why = match (left_out, is_broken) {
        ([], false) => return None,
        ([], true) => "the table is wider".to_owned(),
        (_, false) => format!("left out: {}", names()),
        (_, true) => format!("left out: {}; the rest is wider", names()),
    };
    Some(format!("{columns} columns: {why}. A wider terminal, a pipe or -o FILE shows all"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let columns = vec![
            Column::words(""),
            Column::figures("rate"),
            Column::figures("never said"),
            Column::figures("CPU").left_out(1),
            Column::words("limited by").left_out(2),
        ];
        let mut grid = Grid::new(columns);
        grid.title("in order");
        grid.row(["read", "1,240 MiB/s", "", "38%", "device"]);
        grid.row(["write", "400 MiB/s", "", "61%", "device"]);
        grid
    }

    fn lines_on_page(columns: usize) -> Vec<String> {
        grid().lines(Page { columns: Some(columns) })
    }

    #[test]
    fn a_wide_page_shows_all_columns() {
        let expected = [
            "               rate  CPU  limited by",
            "in order",
            " read   1,240 MiB/s  38%  device",
            " write    400 MiB/s  61%  device",
        ];
        assert_eq!(grid().lines(Page::ENDLESS), expected);
        assert_eq!(lines_on_page(37), expected);
    }

    #[test]
    fn a_narrow_page_leaves_out_the_least_important_and_says_so() {
        assert_eq!(
            lines_on_page(35)[2..],
            [
                " read   1,240 MiB/s  38%",
                " write    400 MiB/s  61%",
                "",
                "35 columns: left out: limited by. A",
                "  wider terminal, a pipe or -o FILE",
                "  shows all",
            ]
        );
        assert_eq!(lines_on_page(21)[5..7], ["21 columns: left out:", "  CPU, limited by. A"]);
        let words = lines_on_page(10).join(" ").split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(words.contains("; the rest is wider."), "{words}");
    }

    #[test]
    fn a_long_name_goes_on_in_the_next_line() {
        let mut grid = Grid::new(vec![Column::words(""), Column::figures("rate")]);
        grid.row(["copy, buffer 16 B, sync none", "1"]);
        assert_eq!(grid.lines(Page { columns: Some(36) }).len(), 2);
        let lines = grid.lines(Page { columns: Some(21) });
        assert_eq!(lines[1..], [" copy,              1", "   buffer 16 B,", "   sync none"]);
        let mut grid = Grid::new(vec![Column::words(""), Column::words("target")]).leading(2);
        grid.row(["read sequential again", "left"]);
        grid.row(["", "right"]);
        let lines = grid.lines(Page { columns: Some(25) });
        assert_eq!(lines[1..], [" read          left", "   sequential", "   again", "               right"]);
    }

    /// A file shows all columns in lines of 100, however long names and words are and however many columns there are.
    #[test]
    fn a_file_has_lines_of_100_columns_and_leaves_nothing_out() {
        let targets = ["an-ssd-in-the-basement", "the-one-that-was-bought-last-year", "network"];
        let figures =
            targets.iter().flat_map(|name| [Column::figures(*name).left_out(2), Column::figures("CPU").left_out(4)]);
        let words = [Column::words("verdict"), Column::words("why").left_out(0)];
        let mut grid = Grid::new([Column::words("")].into_iter().chain(figures).chain(words).collect());
        let verdict =
            "an-ssd-in-the-basement 1.17x (1.12-1.23) of the-one-that-was-bought-last-year, maybe by less than 5 %";
        let rates = ["1,240 MiB/s", "38%", "1,060 MiB/s", "41%", "n.m.", ""];
        let row =
            ["randread, iodepth 32, engine uring"].into_iter().chain(rates).chain([verdict, "both: device-bound"]);
        grid.row(row);
        let lines = grid.lines(Page::ENDLESS);
        assert!(lines.iter().all(|line| line.chars().count() <= Page::ENDLESS.width()), "{lines:#?}");
        let text = lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        for shown in
            targets.into_iter().chain(rates).chain(["maybe by less than 5 %", "device-bound", "1.17x (1.12-1.23)"])
        {
            assert!(shown.split(' ').all(|word| text.contains(word)), "{shown}: {lines:#?}");
        }
        assert!(!text.contains("left out"), "{lines:#?}");
    }

    #[test]
    fn in_markdown_a_title_is_a_row() {
        let mut grid = Grid::new(vec![Column::words(""), Column::figures("never"), Column::figures("rate")]);
        grid.title("in order");
        grid.row(["read_8192", "", "38 | 3"]);
        let expected = "|  | rate |\n| --- | ---: |\n| in order |  |\n| read\\_8192 | 38 \\| 3 |\n";
        assert_eq!(grid.markdown(), expected);
    }

    #[test]
    fn columns_that_do_not_fit_go_into_blocks() {
        let columns = ["Eagle\n780", "Eagle\n780", "RA81"].map(Column::figures);
        let mut grid = Grid::new([Column::words("")].into_iter().chain(columns).collect());
        grid.row(["read", "490 (69%)", "220 (58%)", "320"]);
        assert_eq!(
            grid.lines(Page { columns: Some(30) }),
            ["           Eagle", "             780", " read  490 (69%)  220 (58%)", "", "       RA81", " read   320",]
        );
    }
}
