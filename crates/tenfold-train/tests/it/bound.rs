//! ‖A − Â‖ ≤ ε‖A‖, over random shapes, ranks, scales, number types, orders, tolerances and routes.

use crate::trials::trial;

/// Does trials; gives the largest part of the allowance for rounding, and of the bound, that any
/// used.
fn trials(count: u64, most: usize, seed: u64) -> (f64, f64) {
    (seed..seed + count).fold((0.0, 0.0), |worst: (f64, f64), number| {
        let outcome = trial(number, most);
        (worst.0.max(outcome.used), worst.1.max(outcome.share))
    })
}

#[test]
fn the_bound_holds_in_ten_thousand_trials() {
    let small = trials(7_000, 3000, 1_000_000);
    let large = trials(3_000, 40_000, 2_000_000);
    println!(
        "the largest part of the allowance for rounding: {:.3}",
        small.0.max(large.0)
    );
    println!("the largest part of the bound: {:.6}", small.1.max(large.1));
}
