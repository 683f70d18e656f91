//! Room for many numbers.
//!
//! Memory that nobody has touched is handed out by the system a page at a time, and filling it with
//! zeros costs as much as reading a tensor does. Large pages halve that, where the system has them.

use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;
use tenfold::memory;

use crate::error::Result;
use crate::scalar::Scalar;

/// Numbers, zeros at first.
pub(crate) enum Room<T> {
    /// Few, or such as were there before.
    Few(Vec<T>),
    /// As bytes.
    Many(MmapMut),
}

/// Bytes from which on large pages are asked for: several of them.
const MANY: usize = 8 << 20;

impl<T: Scalar> Room<T> {
    /// `count` zeros.
    pub(crate) fn zeros(count: usize) -> Result<Room<T>> {
        let few = || Ok(Room::Few(T::zeros(count)?));
        let len = count.saturating_mul(size_of::<T>());
        if len < MANY {
            return few();
        }
        // A system that has no room of this kind may still have the other.
        let Ok(map) = MmapMut::map_anon(len) else {
            return few();
        };
        #[cfg(target_os = "linux")]
        {
            // Advice that is not taken changes nothing but speed.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Ok(Room::Many(map))
    }

    /// The numbers on their own.
    pub(crate) fn into_vec(self) -> Result<Vec<T>> {
        match self {
            Room::Few(values) => Ok(values),
            Room::Many(_) => Ok(memory::copied(&self)?),
        }
    }
}

/// Makes a list `count` numbers long; what is new is zero.
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
