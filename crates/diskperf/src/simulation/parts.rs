//! The parts of a machine as text: every number with its unit and its source.

use machines::{Kind, Machine, Part};

/// A line for each machine.
pub fn list(machines: impl Iterator<Item = Machine>) -> String {
    let lines: Vec<(String, String)> = machines.map(|machine| (machine.name, machine.about)).collect();
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    lines.iter().map(|(name, about)| format!("{name:width$}  {about}\n")).collect()
}

/// All parts of a machine.
pub fn parts(machine: &Machine) -> String {
    let mut text = format!("{}: {}\n", machine.name, machine.about);
    for part in Kind::ALL.into_iter().flat_map(|kind| machine.parts(kind)) {
        text += &format!("\n{}: {} ({})\n", part.kind, part.name, part.id);
        text += &fields(part);
    }
    text
}

/// The fields of a part, as in `  rpm  3961 turns/min  published  Kridle & McKusick 1983, section 2.5`.
fn fields(part: &Part) -> String {
    let rows: Vec<[String; 4]> = part
        .fields
        .iter()
        .map(|field| {
            let value = match &field.unit {
                Some(unit) => format!("{} {unit}", field.value),
                None => field.value.to_string(),
            };
            [field.key.clone(), value, field.source.name().to_owned(), field.from.clone()]
        })
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let (key, value, source) = (width(0), width(1), width(2));
    let line = |row: &[String; 4]| {
        let line = format!("  {:key$}  {:value$}  {:source$}  {}", row[0], row[1], row[2], row[3]);
        line.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
