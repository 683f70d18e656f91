//! Large buffers on huge pages.
//!
//! The system hands out fresh memory page by page, and zeroing it costs as much as reading a tensor
//! does. Huge pages halve that, where the system has them.

use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;
use tenfold::memory;

use crate::error::Result;
use crate::scalar::Scalar;

/// Numbers, initially zero.
pub(crate) enum Room<T> {
    /// A small or preallocated vector.
    Few(Vec<T>),
    /// A memory map, as bytes.
    Many(MmapMut),
}

/// Size in bytes from which huge pages are requested: several of them.
const MANY: usize = 8 << 20;

impl<T: Scalar> Room<T> {
    /// `count` zeros.
    pub(crate) fn zeros(count: usize) -> Result<Room<T>> {
        let few = || Ok(Room::Few(T::zeros(count)?));
        let len = count.saturating_mul(size_of::<T>());
        if len < MANY {
            return few();
        }
        // If the mapping fails, the allocator may still succeed.
        let Ok(map) = MmapMut::map_anon(len) else {
            return few();
        };
        #[cfg(target_os = "linux")]
        {
            // Advice is optional: without it, only speed changes.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Ok(Room::Many(map))
    }

    /// The numbers as a slice.
    pub(crate) fn into_vec(self) -> Result<Vec<T>> {
        match self {
            Room::Few(values) => Ok(values),
            Room::Many(_) => Ok(memory::copied(&self)?),
        }
    }
}

/// Resizes a vector to `count` numbers; new ones are zero.
pub(crate) fn resize<T: Scalar>(list: &mut Vec<T>, count: usize) -> Result<()> {
    memory::reserve(list, count.saturating_sub(list.len()))?;
    list.resize(count, T::default());
    Ok(())
}

impl<T: Scalar> Deref for Room<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Room::Few(values) => values,
            Room::Many(map) => bytemuck::cast_slice(map),
        }
    }
}

impl<T: Scalar> DerefMut for Room<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Room::Few(values) => values,
            Room::Many(map) => bytemuck::cast_slice_mut(map),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_numbers_are_zeros_like_few() {
        for count in [0, 10, MANY / 8, MANY / 8 + 3] {
            let mut room = Room::<f64>::zeros(count).unwrap();
            assert!(room.len() == count && room.iter().all(|value| *value == 0.0));
            room.iter_mut().for_each(|value| *value = 1.0);
            assert_eq!(room.into_vec().unwrap(), vec![1.0; count]);
        }
    }
}
