//! Text bars for the terminal.

/// Width of the longest bar.
const WIDTH: u32 = 40;

/// From an eighth of a character to a full one.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// A bar of length `count` relative to `most`; never empty.
pub(crate) fn bar(count: u64, most: u64, is_log: bool) -> String {
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
