//! Writing of files that are compressed as a whole by gzip.
//!
//! The specification is RFC 1952.

use std::io;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Whether a file of this name is compressed when it is written.
pub(crate) fn is_gzip_name(path: &Path) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// Compresses its input. The trailer is written on flush, which a [`Sink`](crate::io::Sink) does
/// once, at the very end.
pub(crate) struct Gzip<W: Write>(GzEncoder<W>);

impl<W: Write> Gzip<W> {
    /// Compresses into `target`.
    pub(crate) fn new(target: W) -> Self {
        // Without a name or a date, so that equal content gives equal files.
        Gzip(GzEncoder::new(target, Compression::default()))
    }
}

impl<W: Write> Write for Gzip<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.try_finish()?;
        self.0.get_mut().flush()
    }
}
