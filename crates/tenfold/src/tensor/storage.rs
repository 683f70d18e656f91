//! The third step of the ladder: which cell each number is for.

use crate::dtype::Numbers;

/// How the values of a tensor are kept.
#[derive(Debug, Clone)]
pub enum Storage {
    /// Every cell; with packed symmetries, every cell that the others follow from.
    Dense {
        /// Which index runs fastest.
        order: Order,
        /// The values.
        values: Numbers,
    },
    /// Some cells, or blocks of cells, each with its address.
    Sparse {
        /// Which index runs fastest in linear addresses and within blocks.
        order: Order,
        /// Where each value belongs.
        address: Address,
        /// The values, in the order of their addresses.
        values: Numbers,
    },
    /// No cells: a product of cores that gives them.
    Train {
        /// The sizes of the bonds, one more than there are dimensions; first and last are 1.
        ranks: Vec<u64>,
        /// The cores, of shape (rank, size, next rank), row-major.
        cores: Vec<Numbers>,
    },
    /// Bytes that are kept and rewritten, never computed on.
    Opaque {
        /// What the file calls their arrangement.
        layout: String,
        /// The parts, by name.
        parts: Vec<(String, Numbers)>,
    },
}

/// Which index runs fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last one, as in C.
    Row,
    /// The first one, as in Fortran.
    Column,
}

impl Order {
    /// The opposite one.
    #[must_use]
    pub fn other(self) -> Order {
        match self {
            Order::Row => Order::Column,
            Order::Column => Order::Row,
        }
    }
}

/// Where the values of a sparse tensor belong.
#[derive(Debug, Clone)]
pub enum Address {
    /// One number a cell: its position among all cells in the tensor's order.
    Linear(Numbers),
    /// One index a cell and dimension.
    Coordinates(Vec<Numbers>),
    /// Compressed rows of a matrix: where each row starts, and the column of each cell.
    Rows {
        /// One more than there are rows.
        starts: Numbers,
        /// One a cell.
        columns: Numbers,
    },
    /// Labels, which lie beside the blocks of values.
    Labels,
}

impl Storage {
    /// The word for it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Storage::Dense { .. } => "dense",
            Storage::Sparse { .. } => "sparse",
            Storage::Train { .. } => "train",
            Storage::Opaque { .. } => "opaque",
        }
    }

    /// All arrays of numbers it is made of.
    #[must_use]
    pub fn parts(&self) -> Vec<&Numbers> {
        match self {
            Storage::Dense { values, .. } => vec![values],
            Storage::Sparse {
                address, values, ..
            } => {
                let mut parts = match address {
                    Address::Linear(numbers) => vec![numbers],
                    Address::Coordinates(columns) => columns.iter().collect(),
                    Address::Rows { starts, columns } => vec![starts, columns],
                    Address::Labels => Vec::new(),
                };
                parts.push(values);
                parts
            }
            Storage::Train { cores, .. } => cores.iter().collect(),
            Storage::Opaque { parts, .. } => parts.iter().map(|(_, numbers)| numbers).collect(),
        }
    }

    /// The arrays of numbers that are read as they are stored, without a search for cells.
    pub(super) fn plain_parts_mut(&mut self) -> Vec<&mut Numbers> {
        match self {
            Storage::Dense { values, .. } => vec![values],
            Storage::Sparse { .. } => Vec::new(),
            Storage::Train { cores, .. } => cores.iter_mut().collect(),
            Storage::Opaque { parts, .. } => parts.iter_mut().map(|(_, part)| part).collect(),
        }
    }

    /// How many bytes of the file it takes, addresses included.
    #[must_use]
    pub fn stored_len(&self) -> u64 {
        self.parts()
            .iter()
            .fold(0, |sum, part| sum.saturating_add(part.bytes.stored_len()))
    }
}
