//! Storage: which cell each number is for (dense, sparse, train, opaque). The third step of the
//! ladder.

use crate::dtype::Numbers;

/// The storage of a tensor's values.
#[derive(Debug, Clone)]
pub enum Storage {
    /// Every cell; with packed symmetries, one cell of every orbit.
    Dense {
        /// The dimension that varies fastest.
        order: Order,
        /// The values.
        values: Numbers,
    },
    /// Some cells, or blocks of cells, each with its address.
    Sparse {
        /// The dimension that varies fastest in linear addresses and within blocks.
        order: Order,
        /// The address of each value.
        address: Address,
        /// The values, in the order of their addresses.
        values: Numbers,
    },
    /// No cells: a product of cores from which they are computed.
    Train {
        /// The bond dimensions, one more than there are dimensions; first and last are 1.
        ranks: Vec<u64>,
        /// The cores, of shape (rank, size, next rank), row-major.
        cores: Vec<Numbers>,
    },
    /// Bytes that are kept and rewritten, never computed on.
    Opaque {
        /// The file's name for their layout.
        layout: String,
        /// The parts, by name.
        parts: Vec<(String, Numbers)>,
    },
}

/// The order of dense cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last dimension varies fastest, as in C.
    Row,
    /// The first dimension varies fastest, as in Fortran.
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

/// The addresses of sparse values.
#[derive(Debug, Clone)]
pub enum Address {
    /// One number per cell: its position among all cells in the tensor's order.
    Linear(Numbers),
    /// One index per cell and dimension.
    Coordinates(Vec<Numbers>),
    /// Compressed rows of a matrix: the start of each row, and the column of each cell.
    Rows {
        /// One more than there are rows.
        starts: Numbers,
        /// One per cell.
        columns: Numbers,
    },
    /// Labels, stored beside the blocks of values.
    Labels,
}

impl Storage {
    /// The name of the kind of storage.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Storage::Dense { .. } => "dense",
            Storage::Sparse { .. } => "sparse",
            Storage::Train { .. } => "train",
            Storage::Opaque { .. } => "opaque",
        }
    }

    /// All arrays of numbers in it.
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

    /// The arrays of numbers that are read in stored order, without a search for cells.
    pub(super) fn plain_parts_mut(&mut self) -> Vec<&mut Numbers> {
        match self {
            Storage::Dense { values, .. } => vec![values],
            Storage::Sparse { .. } => Vec::new(),
            Storage::Train { cores, .. } => cores.iter_mut().collect(),
            Storage::Opaque { parts, .. } => parts.iter_mut().map(|(_, part)| part).collect(),
        }
    }

    /// Stored length in bytes, addresses included.
    #[must_use]
    pub fn stored_len(&self) -> u64 {
        self.parts()
            .iter()
            .fold(0, |sum, part| sum.saturating_add(part.bytes.stored_len()))
    }
}
