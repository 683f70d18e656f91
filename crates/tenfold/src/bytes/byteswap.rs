//! Byte swapping: numbers in the other byte order.

/// Reverses the bytes of every number of `width` bytes in `buffer`.
pub(crate) fn swap(buffer: &mut [u8], width: usize) {
    // The usual widths are spelled out so that the compiler vectorizes them.
    match width {
        0 | 1 => {}
        2 => swap_all::<2>(buffer),
        4 => swap_all::<4>(buffer),
        8 => swap_all::<8>(buffer),
        16 => swap_all::<16>(buffer),
        _ => buffer.chunks_exact_mut(width).for_each(<[u8]>::reverse),
    }
}

fn swap_all<const WIDTH: usize>(buffer: &mut [u8]) {
    let (numbers, _) = buffer.as_chunks_mut::<WIDTH>();
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || numbers.iter_mut().for_each(|number| number.reverse()),
    );
}

/// Fills `out` with numbers of `width` bytes, each reversed.
pub(crate) fn swap_into(numbers: &[u8], width: usize, out: &mut [u8]) {
    match width {
        2 => swap_all_into::<2>(numbers, out),
        4 => swap_all_into::<4>(numbers, out),
        8 => swap_all_into::<8>(numbers, out),
        16 => swap_all_into::<16>(numbers, out),
        _ => {
            let len = numbers.len().min(out.len());
            if let Some((numbers, out)) = numbers.get(..len).zip(out.get_mut(..len)) {
                out.copy_from_slice(numbers);
            }
            swap(out, width);
        }
    }
}

fn swap_all_into<const WIDTH: usize>(numbers: &[u8], out: &mut [u8]) {
    let (numbers, _) = numbers.as_chunks::<WIDTH>();
    let (out, _) = out.as_chunks_mut::<WIDTH>();
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for (number, out) in numbers.iter().zip(out) {
                *out = *number;
                out.reverse();
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_numbers_of_every_width_are_reversed_one_by_one() {
        let bytes: Vec<u8> = (0..=255).cycle().take(48 * 37).collect();
        for width in [1, 2, 3, 4, 6, 8, 16] {
            let reversed = bytes.chunks_exact(width).flat_map(|n| n.iter().rev());
            let wanted: Vec<u8> = reversed.copied().collect();
            let mut found = bytes.clone();
            swap(&mut found, width);
            assert_eq!(found, wanted, "{width}");
            let mut found = vec![0; bytes.len()];
            swap_into(&bytes, width, &mut found);
            assert_eq!(found, wanted, "{width}");
        }
    }
}
