//! Sequential access to the fields of one block.

use half::f16;

/// The rest of a block.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    /// The next `len` bytes; fewer at the end of the block.
    pub(super) fn bytes(&mut self, len: usize) -> &'a [u8] {
        let (now, later) = self.0.split_at_checked(len).unwrap_or((self.0, &[]));
        self.0 = later;
        now
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or_default()
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        self.bytes(N).try_into().unwrap_or([0; N])
    }

    /// The next two bytes as an integer.
    pub(super) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    /// The next four bytes as an integer.
    pub(super) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// The next two bytes as a half.
    pub(super) fn half(&mut self) -> f32 {
        f16::from_bits(self.u16()).to_f32()
    }
}

/// A sum whose NaN operand, if both are NaN, is the first: as on the machine that the values are
/// compared with. Compilers are free to choose either.
pub(super) fn plus(first: f32, second: f32) -> f32 {
    if first.is_nan() {
        first
    } else {
        first + second
    }
}

/// The difference, with the same choice as [`plus`].
pub(super) fn minus(first: f32, second: f32) -> f32 {
    if first.is_nan() {
        first
    } else {
        first - second
    }
}

/// Fills `out` with `value` of the lower halves of all bytes, then of the upper ones.
pub(super) fn nibbles(bytes: &[u8], out: &mut [f32], value: impl Fn(u8) -> f32) {
    let (low, high) = out.split_at_mut(out.len() / 2);
    for ((low, high), byte) in low.iter_mut().zip(high).zip(bytes) {
        *low = value(byte & 15);
        *high = value(byte >> 4);
    }
}

/// A part of a field: `len` bytes from `at` on.
pub(super) fn part(bytes: &[u8], at: usize, len: usize) -> &[u8] {
    bytes
        .get(at..)
        .and_then(|rest| rest.get(..len))
        .unwrap_or_default()
}

/// One byte of a field.
pub(super) fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or_default()
}
