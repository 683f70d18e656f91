//! Gaps between ranges of a file.
#![deny(clippy::arithmetic_side_effects)]

use std::ops::Range;

/// The parts of `all` that are in none of `runs`, which are in ascending order and may overlap.
pub(crate) fn gaps(
    all: Range<u64>,
    runs: impl IntoIterator<Item = Range<u64>>,
) -> impl Iterator<Item = Range<u64>> {
    let end = all.end;
    let mut at = all.start;
    let runs = runs.into_iter().chain(std::iter::once(end..end));
    runs.filter_map(move |run| {
        let gap = at..run.start.min(end);
        at = at.max(run.end);
        (!gap.is_empty()).then_some(gap)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(runs: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let runs = runs.iter().map(|(start, end)| *start..*end);
        gaps(8..100, runs).map(|gap| (gap.start, gap.end)).collect()
    }

    #[test]
    fn gaps_are_before_between_and_after_runs() {
        assert_eq!(found(&[]), [(8, 100)]);
        assert_eq!(found(&[(8, 50), (50, 100)]), []);
        let runs = [(10, 20), (20, 30), (40, 90)];
        assert_eq!(found(&runs), [(8, 10), (30, 40), (90, 100)]);
    }

    #[test]
    fn runs_that_repeat_overlap_or_reach_beyond_leave_no_gap_of_their_own() {
        let runs = [(0, 20), (10, 12), (10, 12), (15, 40), (60, 200), (300, 400)];
        assert_eq!(found(&runs), [(40, 60)]);
    }
}
