//! The head of a source: its first bytes, from which the format is detected.

use super::Source;
use crate::bytes::{to_u64, to_usize};
use crate::error::Result;

/// Length of the head: longer than any signature, and than the names and keywords by which formats
/// without a signature are detected.
const LEN: u64 = 4096;

/// The first bytes of a source, read once for the detection of all formats.
pub struct Head {
    source: Source,
    bytes: Vec<u8>,
}

impl Head {
    /// Reads the beginning of a source.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if it cannot be read: that says nothing about its format.
    pub fn of(source: &Source) -> Result<Head> {
        let mut bytes = vec![0; to_usize(source.len().min(LEN))?];
        source.read_at(0, &mut bytes)?;
        Ok(Head {
            source: source.clone(),
            bytes,
        })
    }

    /// The first bytes: 4096, or all of a source that has fewer.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the head is all of the source.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        to_u64(self.bytes.len()) == self.source.len()
    }

    /// The source itself.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Reads more than the head, for formats that cannot be detected from it alone. Bytes that
    /// break a rule of the format mean "no".
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) and [`Error::Stopped`](crate::Error::Stopped): a failed read
    /// says nothing about the format.
    pub(crate) fn ask(&self, question: impl FnOnce(&Source) -> Result<bool>) -> Result<bool> {
        match question(&self.source) {
            Err(error) if error.is_of_content() => Ok(false),
            answer => answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::io::Compute;

    /// A source whose reads fail from some offset on.
    struct Failing {
        from: u64,
    }

    impl Compute for Failing {
        fn len(&self) -> u64 {
            10_000
        }

        fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
            if at + to_u64(buffer.len()) > self.from {
                return Err(std::io::Error::from_raw_os_error(5).into());
            }
            buffer.fill(b' ');
            Ok(())
        }

        fn depth(&self) -> u32 {
            0
        }
    }

    #[test]
    fn what_cannot_be_read_is_an_error_and_what_breaks_a_rule_is_a_no() {
        let error = Head::of(&Source::computed(Failing { from: 100 })).err();
        assert!(matches!(error, Some(Error::Io { .. })));
        let head = Head::of(&Source::computed(Failing { from: 5000 })).unwrap();
        assert_eq!((head.bytes().len(), head.is_whole()), (4096, false));
        let read = |at| head.ask(|source| source.read_at(at, &mut [0; 8]).map(|()| true));
        assert!(read(0).unwrap());
        assert!(matches!(read(6000), Err(Error::Io { .. })));
        assert!(!read(9999).unwrap(), "bytes that are not there");
        assert!(matches!(
            head.ask(|_| Err(Error::Stopped)),
            Err(Error::Stopped)
        ));
    }

    #[test]
    fn no_format_is_found_in_what_cannot_be_read() {
        // Any number of blanks may precede a text, so that the head does not tell.
        let texts = ["x", "x.json"];
        let all = ["x", "x.json", "x.npy", "x.safetensors"];
        for (from, names) in [(0, &all[..]), (5000, &texts[..])] {
            let source = Source::computed(Failing { from });
            for name in names {
                let found = crate::detect(&source, Some(std::path::Path::new(name)));
                assert!(matches!(found, Err(Error::Io { .. })), "{name} from {from}");
            }
        }
    }
}
