//! Sums of squares.

use pulp::Arch;

use crate::num::sum;

/// Numbers that are summed directly; the sums of such runs use compensated summation.
const RUN: usize = 1 << 10;

/// The sum of squares of a slice, in an order independent of the processor.
pub(crate) fn energy(values: &[f64]) -> f64 {
    Arch::new().dispatch(
        #[inline(always)]
        || sum(values.chunks(RUN).map(run_energy)),
    )
}

/// The sum of squares of few numbers; called within a dispatch.
#[inline(always)]
pub(crate) fn run_energy(values: &[f64]) -> f64 {
    let mut lanes = [0.0_f64; 32];
    let (whole, rest) = values.as_chunks::<32>();
    for chunk in whole {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value * value;
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane += value * value;
    }
    let mut count = lanes.len();
    while count > 1 {
        count /= 2;
        let (low, high) = lanes.split_at_mut(count);
        low.iter_mut()
            .zip(high)
            .for_each(|(low, high)| *low += *high);
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_equal_squares_add_up_without_a_drift() {
        let value = 0.1_f64;
        for count in [1000, 1 << 16, 1_000_003] {
            let found = energy(&vec![value; count]);
            let wanted = value * value * crate::num::real(count);
            let units = (found / wanted - 1.0).abs() / crate::num::UNIT;
            assert!(units < 16.0, "{count}: {units}");
        }
    }
}
