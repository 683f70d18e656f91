//! Distributions drawn in the terminal.

use tenfold::Finite;

use super::human::float_text;

/// How wide the longest bar is.
const WIDTH: u32 = 40;

/// From an eighth of a letter to a whole one.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// The ends of `n_bins` equal intervals from the smallest value to the largest.
pub(super) fn edges(finite: &Finite, n_bins: usize) -> Vec<f64> {
    let (low, high) = (finite.min.to_f64(), finite.max.to_f64());
    let n_bins = u32::try_from(n_bins).unwrap_or(u32::MAX);
    let edge = |place: u32| {
        let part = f64::from(place) / f64::from(n_bins);
        // As two products: the ends may lie further apart than a double can say.
        low * (1.0 - part) + high * part
    };
    let inner = (1..n_bins).map(edge);
    std::iter::once(low).chain(inner).chain([high]).collect()
}

/// The lines of a drawing: where each interval begins, a bar, and how many values lie in it.
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

/// A bar whose length tells `count` from `most`; never empty.
fn bar(count: u64, most: u64, is_log: bool) -> String {
    let size = |count: u64| {
        #[expect(clippy::as_conversions, reason = "no eye sees the difference")]
        let count = count as f64;
        if is_log { count.ln_1p() } else { count }
    };
    let eighths = size(count) / size(most).max(1e-9) * f64::from(WIDTH) * 8.0;
    #[expect(clippy::as_conversions, reason = "at most 320, rounded")]
    let eighths = (eighths.round() as usize).max(1);
    let mut bar: String = std::iter::repeat_n('█', eighths / 8).collect();
    bar.extend(
        (eighths % 8)
            .checked_sub(1)
            .and_then(|part| EIGHTHS.get(part)),
    );
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_is_full_and_the_shortest_is_seen() {
        assert_eq!(bar(80, 80, false).chars().count(), 40);
        assert_eq!(bar(1, 1_000_000, false), "▏");
        assert_eq!(bar(3, 160, false), "▊");
        assert_eq!(bar(9, 99, true).chars().count(), 20);
    }
}
