//! Tensors made to deceive a sample.

use tenfold_train::{Method, Options};

use crate::support::{Dice, check_bound, complex, low_rank, squeeze};

const SHAPE: [usize; 4] = [16, 16, 16, 16];

/// Energy where a sample is unlikely to look, in a tensor that otherwise has a low rank.
fn traps(dice: &mut Dice, eps: f64) -> Vec<(&'static str, Vec<f64>)> {
    let base: Vec<f64> = low_rank(&SHAPE, 4, dice);
    let other: Vec<f64> = low_rank(&SHAPE, 5, dice);
    let count = base.len();
    let with = |change: &dyn Fn(&mut [f64])| {
        let mut cells = base.clone();
        change(&mut cells);
        cells
    };
    let mut noise = Dice::new(77);
    let mut noisy = base.clone();
    for cell in &mut noisy {
        *cell += 0.5 * eps / 256.0 * noise.normal();
    }
    // A part of a row tells its coefficients only if no place is much louder than others.
    let mut loud_places = base.clone();
    for row in loud_places.chunks_exact_mut(256) {
        for at in [3, 77, 78, 200] {
            row[at] += 0.4 * eps / 32.0 * noise.normal();
        }
    }
    let mut last_block = vec![0.0; count];
    last_block[count - 128..].copy_from_slice(&base[..128]);
    let mut one_cell = vec![0.0; count];
    one_cell[45_678] = 3.0;
    let diagonal = (0..count)
        .map(|at| if at / 4096 == at % 16 { other[at] } else { 0.0 })
        .collect();
    let mut sorted = base.clone();
    sorted.sort_by(f64::total_cmp);
    let alternating = (0..count)
        .map(|at| {
            if at / 256 % 2 == 0 {
                base[at]
            } else {
                -other[at]
            }
        })
        .collect();
    let mut equal_rows: Vec<f64> = base[..256].repeat(256);
    equal_rows[200 * 256..201 * 256].copy_from_slice(&other[..256]);
    vec![
        ("nothing special", base.clone()),
        (
            "one row",
            with(&|cells| cells[33 * 256..34 * 256].copy_from_slice(&other[..256])),
        ),
        ("one cell", with(&|cells| cells[54_321] += 3.0 * eps)),
        ("one large cell", with(&|cells| cells[54_321] += 1e3)),
        (
            "one block at the end",
            with(&|cells| cells[65_000..].copy_from_slice(&other[65_000..])),
        ),
        ("only a block at the end", last_block),
        ("only one cell", one_cell),
        ("noise below the tolerance", noisy),
        ("a few loud places in every row", loud_places),
        ("block diagonal", diagonal),
        ("sorted", sorted),
        ("alternating", alternating),
        ("all rows equal but one", equal_rows),
        ("zeros", vec![0.0; count]),
    ]
}

#[test]
fn no_trap_breaks_the_bound() {
    let mut dice = Dice::new(11);
    for eps in [1e-1, 1e-3, 1e-6, 1e-8, 1e-11] {
        for (what, cells) in traps(&mut dice, eps) {
            for route in [None, Some(Method::TwoSided), Some(Method::VerifiedPass)] {
                let mut options = Options::relative(eps);
                if let Some(route) = route {
                    options = options.by(route);
                }
                let found = squeeze(&SHAPE, &cells, &options);
                check_bound(&found, &cells, eps, &format!("{what} {eps:e} {route:?}"));
            }
        }
    }
}

#[test]
fn no_trap_breaks_the_bound_of_a_complex_tensor() {
    let mut dice = Dice::new(12);
    for eps in [1e-2, 1e-8] {
        let traps = traps(&mut dice, eps);
        for (one, two) in traps.iter().zip(traps.iter().skip(1)) {
            let parts = one.1.iter().zip(&two.1);
            let cells: Vec<_> = parts.map(|(re, im)| complex(*re, *im)).collect();
            let found = squeeze(&SHAPE, &cells, &Options::relative(eps));
            check_bound(&found, &cells, eps, one.0);
        }
    }
}

#[test]
fn a_pass_finds_directions_that_come_late_without_keeping_all() {
    let mut dice = Dice::new(13);
    let mut cells: Vec<f64> = low_rank(&SHAPE, 4, &mut dice);
    let other: Vec<f64> = low_rank(&SHAPE, 3, &mut dice);
    cells[60_000..].copy_from_slice(&other[60_000..]);
    let found = squeeze(
        &SHAPE,
        &cells,
        &Options::relative(1e-9).by(Method::VerifiedPass),
    );
    assert_eq!(found.report.route, Method::VerifiedPass);
    check_bound(&found, &cells, 1e-9, "late");
    assert!(
        found.train.len() < cells.len() / 2,
        "{:?}",
        found.train.ranks()
    );
}
