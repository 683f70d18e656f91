//! What users do with files: open, select, merge, cast, salvage; sets and folders of files.

mod blame;
mod cast;
mod folder;
mod merge;
mod open;
mod salvage;
mod select;
mod sets;
pub(crate) mod shards;
mod tensor_ref;

pub use crate::io::presence;
pub use blame::{ReadInput, blame};
pub use cast::{CastRule, cast, cast_tensor};
pub use folder::{Listing, Skipped, list};
pub use merge::{Part, merge, name_by_files};
pub use open::{Input, Member, OpenOptions, stem};
pub use salvage::{Lost, Proof, Salvaged, salvage};
pub use select::{
    UNNAMED, captures, demand, demand_all, matches, nearest, retain, retain_by,
    retain_with_statistics, select,
};
pub use shards::is_glob;
pub use tensor_ref::TensorRef;
