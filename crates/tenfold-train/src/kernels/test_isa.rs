//! Every kind of register that a test can try on this processor.

use pulp::{Arch, Scalar, Simd, WithSimd};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Registers {
    /// The best there are.
    Best,
    /// Sixteen of four numbers each.
    #[cfg(target_arch = "x86_64")]
    Sixteen(pulp::x86::V3),
    /// None that hold more than one number.
    Plain,
}

impl Registers {
    /// All that this processor has.
    pub(crate) fn all() -> Vec<Registers> {
        let mut all = vec![Registers::Best, Registers::Plain];
        #[cfg(target_arch = "x86_64")]
        all.extend(pulp::x86::V3::try_new().map(Registers::Sixteen));
        all
    }

    /// Does some work with them.
    pub(crate) fn run<W: WithSimd>(self, work: W) -> W::Output {
        match self {
            Registers::Best => Arch::new().dispatch(work),
            #[cfg(target_arch = "x86_64")]
            Registers::Sixteen(simd) => Simd::vectorize(simd, work),
            Registers::Plain => Simd::vectorize(Scalar::new(), work),
        }
    }
}
