//! Exit codes.

use std::process::ExitCode;

use tenfold::Error;

/// The exit code, in order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: success.
    Fine,
    /// 1: a negative answer, such as an invalid file.
    No,
    /// 2: invalid command line, or a system failure such as lack of memory.
    Trouble,
    /// 3: refused, because it would lose information.
    Refused,
    /// 130: interrupted by Ctrl-C.
    Interrupted,
}

impl Exit {
    /// The number returned to the shell.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::No => 1,
            Exit::Trouble => 2,
            Exit::Refused => 3,
            Exit::Interrupted => 130,
        }
    }

    /// The exit code for an error, by its cause.
    #[must_use]
    pub fn of(error: &Error) -> Exit {
        match error.cause() {
            Error::Malformed { .. }
            | Error::Unsupported { .. }
            | Error::Limit { .. }
            | Error::Unrecognised { .. } => Exit::No,
            Error::Refused(_) | Error::NoRoom { .. } | Error::OutOfRange(_) => Exit::Refused,
            _ => Exit::Trouble,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        exit.code().into()
    }
}
