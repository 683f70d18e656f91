//! Whatever a format says it holds comes back from it with the same meaning.

use proptest::prelude::*;
use tenfold::{
    Address, Arity, Bundle, Dim, Format, Mode, Numbers, Order, ReadOptions, Storage, Symmetry,
    Tensor,
};

use crate::generate::{Tape, bundle};
use crate::meaning::meanings;
use crate::support::{verify, versions, write, write_as};

fn comes_back(format: &dyn Format, tape: &[u8]) -> Result<(), TestCaseError> {
    let name = format.info().name;
    let before = bundle(format, &mut Tape(tape));
    let bytes = match write_as(format, &before) {
        Ok(bytes) => bytes,
        // Names that come up twice, or that a format's own rules exclude, are refused by name.
        Err(tenfold::Error::Refused(refusal)) => {
            prop_assert!(
                refusal
                    .losses
                    .iter()
                    .all(|loss| loss.aspect.as_str().contains("names")
                        || loss.aspect.as_str() == "keys"),
                "{refusal}"
            );
            return Ok(());
        }
        Err(error) => return Err(TestCaseError::fail(format!("{name}: {error}"))),
    };
    // Drawn values need not keep their own symmetries: a lenient reader says so and goes on.
    let how = ReadOptions {
        mode: Mode::Lenient,
        ..ReadOptions::default()
    };
    let after =
        verify(name, &bytes, &how).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(meanings(&before), meanings(&after.bundle));
    prop_assert_eq!(&before.meta, &after.bundle.meta);
    // A file written once is written again byte for byte.
    let again =
        write_as(format, &after.bundle).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert!(again == bytes, "{} is not canonical", name);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn what_a_format_holds_comes_back(tape in prop::collection::vec(any::<u8>(), 0..600)) {
        for format in versions() {
            comes_back(format, &tape)?;
        }
    }
}

#[test]
fn arities_are_all_tried() {
    // The generator draws from what a format says it holds: a list that lost an entry would go
    // unnoticed by the property above.
    let tens = tenfold::by_name("tens").unwrap().info();
    assert_eq!(
        (tens.holds.numbers.len(), tens.holds.arities),
        (13, Arity::ALL)
    );
    assert_eq!(
        tenfold::by_name("ztensor")
            .unwrap()
            .info()
            .holds
            .numbers
            .len(),
        13
    );
}

#[test]
fn a_zero_whose_opposite_is_stored_with_it_is_no_absent_cell() {
    let symmetry = Symmetry {
        permutation: vec![1, 0],
        operation: "-x".into(),
        packed: true,
    };
    let storage = Storage::Sparse {
        order: Order::Column,
        address: Address::Linear(Numbers::from_vec(&[5_u64])),
        values: Numbers::from_vec(&[0_f32]),
    };
    let dims = vec![Dim::indexed(3), Dim::indexed(3)];
    let tensor = Tensor::new(dims, "f32".parse().unwrap(), vec![symmetry], storage).unwrap();
    let before = Bundle::of(tensor);
    let bytes = write("tens", &before).unwrap();
    let after = verify("tens", &bytes, &ReadOptions::default()).unwrap();
    assert_eq!(meanings(&before), meanings(&after.bundle));
}
