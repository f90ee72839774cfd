//! The column `of limit`: a rate as a share of the rate of the layer below.

use stats::{Cell, Document, Estimate, OfLimit};

/// True if the document has any such share. Otherwise neither the column nor the reasons are printed.
pub fn is_known(document: &Document) -> bool {
    document.cells.iter().any(|cell| estimate(cell).is_some())
}

/// The share with half of its interval, and the layer: `71 ±3 % of the device`. `n.m.` if it was to be measured.
pub fn text(cell: &Cell) -> String {
    match (&cell.of_limit, estimate(cell)) {
        (Some(OfLimit { layer: Some(layer), .. }), Some(Estimate { ratio: Some(ratio), low, high, .. })) => {
            let half = low.zip(high).map_or_else(String::new, |(low, high)| format!(" ±{:.0}", 50.0 * (high - low)));
            format!("{:.0}{half} % of {}", 100.0 * ratio, layer.in_words())
        }
        (Some(_), _) if cell.measured => "n.m.".to_owned(),
        _ => String::new(),
    }
}

/// The share with its interval.
pub fn estimate(cell: &Cell) -> Option<Estimate> {
    cell.of_limit.as_ref()?.estimate.filter(|_| cell.measured)
}

/// The cells without a share, each with the reason.
pub fn reasons(document: &Document) -> impl Iterator<Item = (&str, &Cell)> {
    let is_asked = is_known(document);
    let asked = document.cells.iter().filter(move |cell| is_asked && cell.measured);
    asked.filter_map(|cell| Some((cell.of_limit.as_ref()?.reason.as_deref()?, cell)))
}

#[cfg(test)]
mod tests {
    use stats::{LimitLayer, Provenance};

    use super::*;

    fn cell(estimate: Option<Estimate>) -> Cell {
        let of_limit = OfLimit {
            layer: estimate.map(|_| LimitLayer::Device),
            per_second: estimate.map(|_| 1e8),
            estimate,
            rounds: 5,
            reason: estimate.is_none().then(|| "the file is too small".to_owned()),
        };
        Cell {
            measured: true,
            of_limit: Some(of_limit),
            ..Cell::named(Provenance::Measured, "quick", "read_8192", "read", "a")
        }
    }

    #[test]
    fn a_share_is_printed_with_its_interval_and_layer() {
        let estimate = |low, high| Estimate { ratio: Some(0.713), low, high, confidence: 0.95 };
        assert_eq!(text(&cell(Some(estimate(Some(0.684), Some(0.743))))), "71 ±3 % of the device");
        assert_eq!(text(&cell(Some(estimate(None, None)))), "71 % of the device");
        assert_eq!(text(&cell(None)), "n.m.");
        assert_eq!(text(&Cell { of_limit: None, ..cell(None) }), "");
        assert_eq!(text(&Cell { measured: false, ..cell(None) }), "");
    }
}
