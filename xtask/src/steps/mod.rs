//! The steps of `cargo xtask test`; a new one needs a function and a line here.

mod corpus;
mod dependencies;
mod environment;
mod instructions;
mod machines;
mod oracles;
mod python;
mod rust;
mod soak;
mod targets;
mod view;

pub(crate) use instructions::record as record_instructions;
pub(crate) use python::wheel;
pub(crate) use soak::soak;

/// A check that passes or fails.
pub(crate) struct Step {
    /// Its name in the output.
    pub(crate) name: &'static str,
    /// Its function.
    pub(crate) run: fn() -> Result<(), String>,
}

/// Every check, fast ones first.
pub(crate) const TEST: &[Step] = &[
    Step {
        name: "format",
        run: rust::format,
    },
    Step {
        name: "clippy",
        run: rust::clippy,
    },
    Step {
        name: "documentation",
        run: rust::documentation,
    },
    Step {
        name: "dependencies",
        run: dependencies::check,
    },
    Step {
        name: "targets",
        run: targets::check,
    },
    Step {
        name: "tests",
        run: rust::tests,
    },
    Step {
        name: "corpus",
        run: corpus::check,
    },
    Step {
        name: "python",
        run: python::check,
    },
    Step {
        name: "view",
        run: view::check,
    },
    Step {
        name: "oracles",
        run: oracles::check,
    },
    Step {
        name: "instructions",
        run: instructions::check,
    },
    Step {
        name: "fuzzing",
        run: crate::fuzz::check,
    },
];

/// Every oracle, including large ones.
pub(crate) const ORACLES: &[Step] = &[
    Step {
        name: "oracles",
        run: oracles::check_all,
    },
    Step {
        name: "python with torch",
        run: python::check_with_torch,
    },
];

/// The tests of the viewer alone.
pub(crate) const VIEW: &[Step] = &[Step {
    name: "view",
    run: view::check,
}];

/// The instruction counts alone.
pub(crate) const INSTRUCTIONS: &[Step] = &[Step {
    name: "instructions",
    run: instructions::check,
}];

/// The checks for other machines.
pub(crate) const MACHINES: &[Step] = &[Step {
    name: "machines",
    run: machines::check,
}];
