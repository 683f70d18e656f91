//! Histograms drawn in the terminal.

use tenfold::Finite;

use super::text::float_text;
use crate::terminal::bar;

/// The edges of `n_bins` equal intervals from the smallest value to the largest.
pub(super) fn edges(finite: &Finite, n_bins: usize) -> Vec<f64> {
    let (low, high) = (finite.min.to_f64(), finite.max.to_f64());
    let n_bins = u32::try_from(n_bins).unwrap_or(u32::MAX);
    let edge = |place: u32| {
        let part = f64::from(place) / f64::from(n_bins);
        // As two products: the range may overflow a double.
        low * (1.0 - part) + high * part
    };
    let inner = (1..n_bins).map(edge);
    std::iter::once(low).chain(inner).chain([high]).collect()
}

/// The lines of a histogram: the start of each interval, a bar, and the count.
pub(super) fn lines(finite: &Finite, counts: &[u64], is_log: bool) -> Vec<String> {
    let edges: Vec<String> = edges(finite, counts.len())
        .into_iter()
        .map(float_text)
        .collect();
    let width = edges
        .iter()
        .map(|edge| edge.chars().count())
        .max()
        .unwrap_or(0);
    let most = counts.iter().copied().max().unwrap_or(0);
    let bars = counts.iter().map(|count| match count {
        0 => "│".into(),
        count => format!("│{} {count}", bar(*count, most, is_log)),
    });
    let after = std::iter::once("│".into());
    let lines = edges.iter().zip(bars.chain(after));
    lines
        .map(|(edge, bar)| format!("{edge:>width$} {bar}"))
        .collect()
}
