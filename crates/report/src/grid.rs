//! A table for people, on a page that may be narrow. Rows of text in, lines out; knows no cell.
//!
//! Policy, where the page is too narrow for all columns:
//!   1. a column that says nothing in any row is never printed;
//!   2. names of rows that are longer than a quarter of the page go on in the next line;
//!   3. columns that can be left out are, the least important first, until the rest fits, and that is said;
//!   4. what then is still too wide stands in blocks below each other, each with the leading columns again;
//!   5. a block is never narrower than one column beside the leading ones: a page narrower than that breaks lines,
//!      and that is said too.

use comfy_table::{CellAlignment, Table, TableStyle};

use crate::markdown::escaped;
use crate::plain;
use crate::wrap::wrapped;

/// What the page holds that a text is printed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Columns of characters; nothing where there is no end to a line.
    pub columns: Option<usize>,
}

impl Page {
    /// A page whose lines end nowhere: a file, a pipe.
    pub const ENDLESS: Page = Page { columns: None };

    /// Whether it has room for columns of a table. An endless page has, so that nobody has to ask how wide they are.
    fn holds(self, grid: &Grid, columns: &[usize]) -> bool {
        self.columns.is_none_or(|there| grid.width(columns) <= there)
    }
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    heading: String,
    is_right: bool,
    /// The higher, the earlier it is left out; nothing where it never is.
    left_out: Option<u8>,
}

impl Column {
    /// Words, which begin at the left.
    pub fn words(heading: impl Into<String>) -> Column {
        Column { heading: heading.into(), is_right: false, left_out: None }
    }

    /// Figures, which end at the right.
    pub fn figures(heading: impl Into<String>) -> Column {
        Column { is_right: true, ..Column::words(heading) }
    }

    /// The same, left out where the page is too narrow, the earlier the higher this is.
    pub fn left_out(self, rank: u8) -> Column {
        Column { left_out: Some(rank), ..self }
    }

    /// What it holds.
    pub fn heading(&self) -> &str {
        &self.heading
    }

    /// Whether it holds figures.
    pub fn is_right(&self) -> bool {
        self.is_right
    }
}

/// A line of a table.
#[derive(Clone, Debug)]
pub enum Line {
    /// A text for each column, or for the first ones.
    Row(Vec<String>),
    /// What stands above the rows that it is the title of.
    Title(String),
}

/// A name that is no longer stays in one line, however narrow the page is.
const SHORTEST: usize = 14;

/// A table.
#[derive(Clone, Debug)]
pub struct Grid {
    columns: Vec<Column>,
    /// So many columns name the row, and stand in every block.
    leading: usize,
    lines: Vec<Line>,
}

impl Grid {
    /// A table without rows, whose first column names them.
    pub fn new(columns: Vec<Column>) -> Grid {
        Grid { columns, leading: 1, lines: Vec::new() }
    }

    /// The same, where so many columns name the rows.
    pub fn leading(self, leading: usize) -> Grid {
        Grid { leading, ..self }
    }

    /// Adds a row, a text of one line for each column.
    pub fn row(&mut self, row: impl IntoIterator<Item = impl Into<String>>) {
        let plain = |text: String| plain::line(&text).into_owned();
        self.lines.push(Line::Row(row.into_iter().map(|text| plain(text.into())).collect()));
    }

    /// Adds a line of its own, above the rows that it is the title of.
    pub fn title(&mut self, title: impl Into<String>) {
        self.lines.push(Line::Title(plain::line(&title.into()).into_owned()));
    }

    /// The columns that say anything, and all lines, for a page whose columns are no characters: of a row the texts of these
    /// columns.
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

    /// The table as it fits on the page.
    pub fn lines(&self, page: Page) -> Vec<String> {
        // 1.
        let shown: Vec<usize> = (0..self.columns.len()).filter(|&column| self.says_anything(column)).collect();
        // 2.
        if let (Some(columns), false) = (page.columns, page.holds(self, &shown)) {
            let broken = Grid { lines: self.broken((columns / 4).max(SHORTEST)), ..self.clone() };
            return broken.fitted(shown, page);
        }
        self.fitted(shown, page)
    }

    /// The table in Markdown: all columns that say anything.
    pub fn markdown(&self) -> String {
        let (columns, lines) = self.contents();
        let line = |words: Vec<String>| format!("| {} |\n", words.join(" | "));
        let ruler = |column: &&Column| if column.is_right { "---:" } else { "---" }.to_owned();
        let mut text = line(columns.iter().map(|column| escaped(&column.heading)).collect());
        text += &line(columns.iter().map(ruler).collect());
        for row in &lines {
            text += &match row {
                Line::Row(row) => line(row.iter().map(|word| escaped(word)).collect()),
                // In the first column of a row of its own.
                Line::Title(title) => {
                    line(std::iter::once(escaped(title)).chain(columns.iter().skip(1).map(|_| String::new())).collect())
                }
            };
        }
        text
    }

    /// These columns as they fit on the page.
    fn fitted(&self, mut shown: Vec<usize>, page: Page) -> Vec<String> {
        // 3.
        let mut left_out: Vec<usize> = Vec::new();
        while !page.holds(self, &shown) {
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
            lines.extend(self.block(block));
        }
        left_out.sort_unstable();
        let names: Vec<&str> = left_out.iter().map(|column| self.columns[*column].heading.as_str()).collect();
        // 5.
        let is_broken = blocks.iter().any(|block| !page.holds(self, block));
        if let Some(remark) = remark(page, &names, is_broken) {
            lines.push(String::new());
            lines.extend(wrapped(&remark, page).lines().map(str::to_owned));
        }
        lines
    }

    /// Columns that stand beside each other, each block with the leading ones.
    fn blocks(&self, shown: &[usize], page: Page) -> Vec<Vec<usize>> {
        let (leading, others): (Vec<usize>, Vec<usize>) = shown.iter().partition(|column| **column < self.leading);
        let mut blocks = vec![leading.clone()];
        for column in others {
            let last = blocks.last_mut().expect("there is one from the beginning");
            let wider = [last.as_slice(), &[column]].concat();
            if last.len() > leading.len() && !page.holds(self, &wider) {
                blocks.push([leading.as_slice(), &[column]].concat());
            } else {
                *last = wider;
            }
        }
        blocks
    }

    /// These columns of all lines.
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
        for line in &self.lines {
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
        lines.extend(self.lines.iter().filter_map(|line| match line {
            Line::Row(_) => rows.next(),
            Line::Title(title) => Some(title.clone()),
        }));
        lines
    }

    /// The headings of columns beside each other; what several have stands above the first of them.
    fn headings(&self, columns: &[usize]) -> Vec<&str> {
        let heading = |place: usize| self.columns[columns[place]].heading.as_str();
        let is_repeated = |place: usize| place > 0 && heading(place) == heading(place - 1);
        (0..columns.len()).map(|place| if is_repeated(place) { "" } else { heading(place) }).collect()
    }

    /// The lines, with names that go on in the next one.
    fn broken(&self, columns: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        for line in &self.lines {
            let Line::Row(row) = line else {
                lines.push(line.clone());
                continue;
            };
            let names = in_lines(row.first().map_or("", String::as_str), columns);
            let mut names = names.lines().map(str::to_owned);
            let first = names.next().unwrap_or_default();
            lines.push(Line::Row([first].into_iter().chain(row.iter().skip(1).cloned()).collect()));
            lines.extend(names.map(|name| Line::Row(vec![name])));
        }
        lines
    }

    /// How wide these columns are beside each other.
    fn width(&self, columns: &[usize]) -> usize {
        self.block(columns).iter().map(|line| line.chars().count()).max().unwrap_or(0)
    }

    fn says_anything(&self, column: usize) -> bool {
        self.lines.iter().any(|line| match line {
            Line::Row(row) => row.get(column).is_some_and(|text| !text.is_empty()),
            Line::Title(_) => false,
        })
    }
}

/// A name in lines of so many columns; one with commas is broken only behind them.
fn in_lines(name: &str, columns: usize) -> String {
    const BOUND: char = '\u{a0}';
    let bound = if name.contains(", ") {
        name.replace(' ', &BOUND.to_string()).replace(&format!(",{BOUND}"), ", ")
    } else {
        name.to_owned()
    };
    wrapped(&bound, Page { columns: Some(columns) }).replace(BOUND, " ")
}

/// What a page that is too narrow did to a table.
fn remark(page: Page, left_out: &[&str], is_broken: bool) -> Option<String> {
    let columns = page.columns?;
    let why = match (left_out, is_broken) {
        ([], false) => return None,
        ([], true) => "the table is wider".to_owned(),
        (names, false) => format!("left out: {}", names.join(", ")),
        (names, true) => format!("left out: {}; what is left is wider", names.join(", ")),
    };
    Some(format!("{columns} columns: {why}. A wider terminal, a pipe or -o FILE has all"))
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

    fn on(columns: usize) -> Vec<String> {
        grid().lines(Page { columns: Some(columns) })
    }

    #[test]
    fn everything_stands_where_there_is_room() {
        let expected = [
            "               rate  CPU  limited by",
            "in order",
            " read   1,240 MiB/s  38%  device",
            " write    400 MiB/s  61%  device",
        ];
        assert_eq!(grid().lines(Page::ENDLESS), expected);
        assert_eq!(on(37), expected);
    }

    #[test]
    fn the_least_important_is_left_out_first_and_that_is_said() {
        assert_eq!(
            on(35)[2..],
            [
                " read   1,240 MiB/s  38%",
                " write    400 MiB/s  61%",
                "",
                "35 columns: left out: limited by. A",
                "  wider terminal, a pipe or -o FILE",
                "  has all",
            ]
        );
        assert_eq!(on(21)[5..7], ["21 columns: left out:", "  CPU, limited by. A"]);
        let words = on(10).join(" ").split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(words.contains("; what is left is wider."), "{words}");
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

    #[test]
    fn in_markdown_a_title_is_a_row() {
        let mut grid = Grid::new(vec![Column::words(""), Column::figures("never"), Column::figures("rate")]);
        grid.title("in order");
        grid.row(["read_8192", "", "38 | 3"]);
        let expected = "|  | rate |\n| --- | ---: |\n| in order |  |\n| read\\_8192 | 38 \\| 3 |\n";
        assert_eq!(grid.markdown(), expected);
    }

    #[test]
    fn what_stays_stands_in_blocks() {
        let columns = ["Eagle\n780", "Eagle\n780", "RA81"].map(Column::figures);
        let mut grid = Grid::new([Column::words("")].into_iter().chain(columns).collect());
        grid.row(["read", "490 (69%)", "220 (58%)", "320"]);
        assert_eq!(
            grid.lines(Page { columns: Some(30) }),
            ["           Eagle", "             780", " read  490 (69%)  220 (58%)", "", "       RA81", " read   320",]
        );
    }
}
