//! How a run ends.

use std::process::ExitCode;

use tenfold::Error;

/// The exit code, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: all went well.
    Fine,
    /// 1: the answer is no, as for a file that is not what it should be.
    No,
    /// 2: the command line makes no sense, or the system failed, as for want of memory.
    Trouble,
    /// 3: not done, because something would have been lost.
    Refused,
    /// 130: somebody pressed Ctrl-C.
    Interrupted,
}

impl Exit {
    /// The number that the shell sees.
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

    /// The exit code for an error, by who must act.
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
