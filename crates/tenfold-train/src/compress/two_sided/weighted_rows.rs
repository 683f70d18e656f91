//! Weighted sampling of rows.

use crate::num::real;

/// About `wanted` rows sampled in proportion to their weights, in order, with evenly spaced ones
/// added to cover quiet parts. Weights that are all zero, or not finite, are ignored.
pub(crate) fn in_proportion(weights: &[f64], wanted: usize) -> Vec<usize> {
    let step = weights.iter().sum::<f64>() / real(wanted);
    let mut chosen = Vec::new();
    if step > 0.0 && step.is_finite() {
        let mut next = 0.5 * step;
        let mut sum = 0.0;
        for (place, weight) in weights.iter().enumerate() {
            sum += weight;
            if sum >= next {
                chosen.push(place);
                while next <= sum {
                    next += step;
                }
            }
        }
    }
    let extra = wanted.saturating_sub(chosen.len());
    chosen.extend((0..extra).map(|place| place * weights.len() / extra));
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_places_come_first_and_quiet_ones_are_seen() {
        let mut weights = [0.0; 100];
        weights[37] = 3.0;
        weights[90] = 1.0;
        let found = in_proportion(&weights, 4);
        assert!(found.contains(&37) && found.contains(&90), "{found:?}");
        assert_eq!(found.len(), 4);
        assert_eq!(in_proportion(&[1.0; 8], 4), [0, 2, 4, 6]);
    }

    #[test]
    fn weights_that_say_nothing_give_evenly_spread_places() {
        for weight in [0.0, f64::INFINITY, f64::NAN] {
            assert_eq!(in_proportion(&[weight; 8], 4), [0, 2, 4, 6]);
        }
    }
}
