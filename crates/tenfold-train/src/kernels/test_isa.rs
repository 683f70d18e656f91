//! All register types available to tests on this processor.

use pulp::{Arch, Scalar, Simd, WithSimd};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Registers {
    /// The widest available.
    Best,
    /// Sixteen registers of four numbers each.
    #[cfg(target_arch = "x86_64")]
    Sixteen(pulp::x86::V3),
    /// Scalar only.
    Plain,
}

impl Registers {
    /// All that this processor supports.
    pub(crate) fn all() -> Vec<Registers> {
        let mut all = vec![Registers::Best, Registers::Plain];
        #[cfg(target_arch = "x86_64")]
        all.extend(pulp::x86::V3::try_new().map(Registers::Sixteen));
        all
    }

    /// Runs an operation with them.
    pub(crate) fn run<W: WithSimd>(self, work: W) -> W::Output {
        match self {
            Registers::Best => Arch::new().dispatch(work),
            #[cfg(target_arch = "x86_64")]
            Registers::Sixteen(simd) => Simd::vectorize(simd, work),
            Registers::Plain => Simd::vectorize(Scalar::new(), work),
        }
    }
}
