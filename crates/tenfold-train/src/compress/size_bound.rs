//! Early proof that no train within the tolerance is small enough.
//!
//! Let λ be the eigenvalues of the Gram matrix G of an unfolding, in descending order, and E their
//! sum, the energy. The first r of them sum up to √r·‖G‖ at most (Cauchy and Schwarz), so any train
//! of rank r at this bond leaves out E − √r·‖G‖ at least. Conversely, this gives the least rank of
//! every train within the tolerance; and a train with a rank r between modes of sizes m and n has
//! r·max(r, m) + r·max(r, n) numbers in these two cores at least, as the ranks beside it times m or
//! n are no less than r.
//!
//! Earlier steps only reduced eigenvalues, so this holds for the tensor itself.

use crate::error::{Error, Result};
use crate::num::{floor, real};

/// The size limit of a train, and its permitted error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SizeLowerBound {
    /// The size limit in bytes (exclusive), and the bytes of one number.
    pub(crate) below: u64,
    pub(crate) width: usize,
    /// The energy that may be left out, by truncation and by rounding.
    pub(crate) budget: f64,
}

/// Relative error of a Gram matrix and its norm, with ample margin.
const SAFE: f64 = 1.0 - 1e-9;

impl SizeLowerBound {
    /// Fails if every train is too large: for a tensor with this energy, and with a Gram matrix of
    /// this norm at the bond between modes of two sizes.
    pub(crate) fn check(&self, energy: f64, gram: f64, sizes: [usize; 2]) -> Result<()> {
        let kept = energy * SAFE - self.budget;
        if !(kept > 0.0 && gram > 0.0) {
            return Ok(());
        }
        let rank = floor(((kept / gram).powi(2) * SAFE).ceil());
        let cores = sizes.map(|size| real(rank) * real(rank.max(size)));
        let least = cores.iter().sum::<f64>() * real(self.width);
        let least = u64::try_from(floor(least)).unwrap_or(u64::MAX);
        if least < self.below {
            return Ok(());
        }
        Err(Error::NotSmaller {
            rank,
            least,
            below: self.below,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(below: u64) -> SizeLowerBound {
        SizeLowerBound {
            below,
            width: 8,
            budget: 0.0,
        }
    }

    #[test]
    fn the_least_rank_of_equal_eigenvalues_is_their_number() {
        // Sixteen ones: the norm is 4, and all have to be kept.
        let found = demand(1).check(16.0, 4.0, [16, 20]);
        let Err(Error::NotSmaller { rank, least, .. }) = found else {
            panic!("{found:?}");
        };
        assert_eq!((rank, least), (16, 8 * 16 * (16 + 20)));
        assert!(demand(least + 1).check(16.0, 4.0, [16, 20]).is_ok());
    }

    #[test]
    fn what_may_be_left_out_is_not_counted() {
        let half = SizeLowerBound {
            budget: 8.0,
            ..demand(1)
        };
        let found = half.check(16.0, 4.0, [16, 16]);
        // Half of the energy needs at least four of them, by this bound; in fact eight.
        assert!(
            matches!(found, Err(Error::NotSmaller { rank: 4, .. })),
            "{found:?}"
        );
        let all = SizeLowerBound {
            budget: 17.0,
            ..demand(1)
        };
        assert!(all.check(16.0, 4.0, [16, 16]).is_ok());
        assert!(demand(1).check(f64::NAN, f64::NAN, [16, 16]).is_ok());
    }
}
