//! Mutations that keep what a syntax asks for, so that they reach what lies behind it: counts, lengths,
//! checksums and compressed bytes fit what was changed.

mod cbor;
mod gzip;
mod pickle;
mod random;
mod sequence;
mod yaml;
mod zip;
mod ztensor;

pub use random::Random;

/// Changes bytes of a syntax; nothing if they are none of it.
pub type Mutation = fn(&[u8], &mut Random) -> Option<Vec<u8>>;

pub use cbor::mutate as cbor;
pub use gzip::{HEAD as GZIP_HEAD, mutate as gzip, mutate_body as gzip_body};
pub use pickle::mutate as pickle;
pub use yaml::{mutate as yaml, mutate_described as described_by_yaml};
pub use zip::mutate as zip;
pub use ztensor::mutate as ztensor;

/// What libFuzzer calls for the next input: `data` has the last one in its first `size` bytes.
///
/// One change in three is libFuzzer's own: what a syntax forbids has to be tried as well.
pub fn next(mutation: Mutation, data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut random = Random::new(seed);
    if !random.one_in(3)
        && let Some(new) = mutation(&data[..size], &mut random)
        && let Some(place) = data.get_mut(..new.len())
        && (1..=most).contains(&new.len())
    {
        place.copy_from_slice(&new);
        return new.len();
    }
    libfuzzer_sys::fuzzer_mutate(data, size, most)
}
