//! Integrals of quantum chemistry, `FCIDUMP`.
//!
//! Described by Knowles and Handy, Comput. Phys. Commun. 54 (1989) 75; written and read by Molpro, PySCF,
//! Psi4, NECI, HANDE and others. A file is text: a Fortran namelist, then one integral a line.
//!
//! | lines | field | |
//! |---|---|---|
//! | any | namelist | `&FCI`, settings such as `NORB=2,NELEC=2,MS2=0,ORBSYM=1,1,ISYM=1`, then `&END` or `/` |
//! | … | integrals | a value and four orbitals, which count from 1 |
//!
//! | orbitals | tensor | |
//! |---|---|---|
//! | i j k l | `two` | the two-electron integral (ij\|kl), in the order of chemists |
//! | i j 0 0 | `one` | the one-electron integral (i\|h\|j) |
//! | i 0 0 0 | `energies` | the energy of an orbital, which some programs write |
//! | 0 0 0 0 | `core` | the energy of the core |
//!
//! # What it holds
//! `two` of shape (N, N, N, N) and `one` of shape (N, N), both sparse and packed by their symmetries;
//! `energies` of shape (N), sparse; `core`, a scalar; the last two where a file has them. Elements are f64
//! or, if values are pairs such as `(0.5,-0.25)`, c128. Real integrals have eight-fold symmetry, the generators
//! (ji\|kl), (ij\|lk) and (kl\|ij); complex ones have four-fold symmetry, (kl\|ij) and the conjugate of (ji\|lk). `one` is
//! symmetric or hermitian. The settings of the namelist are the metadata `fcidump:NELEC`, `fcidump:ORBSYM` and
//! so on; NORB is the size.
//!
//! # Where the spec is silent
//! 1. A line may have any orbitals of those that are equal by symmetry. Written are the largest ones, i ≥ j,
//!    k ≥ l, ij ≥ kl, in their order; then `one`, `energies` and `core`.
//! 2. Where (ij\|kl) and (kl\|ij) are both listed, as PySCF does by default, the file is read four-fold if such
//!    images agree within 1e-12 of the largest integral: every listed value stays at its own place, and one that is
//!    not listed, as below a cut-off, takes the value of its image. `two` is packed by the other two generators then, and declared to
//!    have the third; the same holds for every symmetry. Images that differ by more, and an integral that is
//!    listed twice at the same place, are refused, where PySCF takes the last. `--opt symmetry=4` or `none` reads
//!    what a file lists with fewer symmetries. Written are tensors that are packed by all of them: others become so if
//!    their values allow it within 1e-12, and what that changes is reported.
//! 3. The namelist may begin with `$FCI` and end with `$END`, in any case, on any number of lines. A setting is a
//!    whole number, a list of them, or else text as it stands. A setting that is given twice is refused.
//! 4. Files of unrestricted orbitals (IUHF=1, UHF=.TRUE.) have several sets of integrals and are not read.
//! 5. Numbers are rounded and spelled as in Matrix Market's text; the exponent of `1.5D-3` is read too.
//! 6. Integrals that are not there are zero, as is the energy of the core; zeros that are there are kept.
//! 7. `NELEC` and `MS2`, without which `to_scf` of PySCF stops, are demanded when a file is written:
//!    `--opt nelec=10,ms2=0`. Any other setting that no metadata gives is not written. `ORBSYM` has a line of its own.
//! 8. A tensor of another name that is the only one of its order gets the name of the integrals it can be.

mod adapt;
mod folding;
mod integrals;
mod losses;
mod namelist;
mod read;
mod write;

use crate::bundle::Bundle;
use crate::dtype::{Arity, Number};
use crate::error::Result;
use crate::format::{
    Adapted, Capabilities, DimNames, Format, Info, Match, MetaSupport, Names, OptionInfo,
    ReadOptions, SidecarSlot, StorageKind, When, WriteOptions,
};
use crate::io::{Head, Sink, Source};
use crate::key::Key;
use crate::loss::Loss;
use crate::meta::Value;
use crate::tensor::{Order, Tensor};

/// The format of integrals.
#[derive(Debug)]
pub struct Fcidump;

const NAME: &str = "fcidump";
/// The prefix of settings among the metadata.
const PREFIX: &str = "fcidump:";
/// Most orbitals for which all cells can be numbered.
const MOST_ORBITALS: u64 = 65_535;

static INFO: Info = Info {
    name: NAME,
    title: "Integrals of quantum chemistry as text, with eight-fold or four-fold symmetry",
    extensions: &["fcidump"],
    magic: b"&FCI",
    versions: &["1"],
    only_read: &[],
    options: &[
        OptionInfo {
            name: "symmetry",
            when: When::Read,
            values: "8|4|none",
            about: "which integrals stand for others; 8 for real ones, 4 for complex ones unless given, \
                    fewer where a list has images of its own integrals",
        },
        OptionInfo {
            name: "nelec",
            when: When::Write,
            values: "N",
            about: "NELEC, the number of electrons, which programs ask for",
        },
        OptionInfo {
            name: "ms2",
            when: When::Write,
            values: "N",
            about: "MS2, twice the spin, which programs ask for",
        },
    ],
    holds: Capabilities {
        names: Names::Flat,
        numbers: &[Number::F64],
        arities: &[Arity::Real, Arity::Complex],
        kinds: &[StorageKind::Dense, StorageKind::Sparse],
        orders: &[Order::Column, Order::Row],
        ndim: (0, 4),
        size: (0, MOST_ORBITALS),
        dim_names: DimNames::No,
        symmetry: true,
        state: false,
        meta: MetaSupport {
            file: false,
            tensor: false,
        },
        carries: SidecarSlot::No,
    },
};

impl Format for Fcidump {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn probe(&self, head: &Head) -> Result<Match> {
        Ok(if namelist::begins(head) {
            Match::Yes
        } else {
            Match::No
        })
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write(bundle, out, how)
    }

    fn adapt(&self, key: &Key, tensor: &Tensor, how: &WriteOptions) -> Result<Option<Adapted>> {
        adapt::adapt(key, tensor, how)
    }

    fn added_meta(&self, _bundle: &Bundle, how: &WriteOptions) -> Result<Vec<(String, Value)>> {
        adapt::given(&how.options)
    }

    fn tensor_name(&self, bundle: &Bundle, key: &Key, tensor: &Tensor) -> Option<Key> {
        adapt::name(bundle, key, tensor)
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        Ok(losses::format_losses(bundle))
    }
}
