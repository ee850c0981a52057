//! What shells and `man` want: completions and the manual page, made from the words themselves.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Args, Outcome};

/// Words of `horchunk completions`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell to complete for
    shell: Shell,
}

/// Prints completions.
pub(super) fn completions(args: CompletionsArgs) -> anyhow::Result<Outcome> {
    // The generator panics where it cannot write, as to a reader that went away.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "horchunk", &mut script);
    io::stdout().write_all(&script)?;
    Ok(Outcome::Done)
}

/// Prints the manual page: the program's, then one section a command.
pub(super) fn man() -> anyhow::Result<Outcome> {
    let mut out = io::stdout().lock();
    let mut program = Args::command();
    program.build();
    clap_mangen::Man::new(program.clone()).render(&mut out)?;
    for command in program.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help") {
        clap_mangen::Man::new(command.clone()).render(&mut out)?;
    }
    Ok(Outcome::Done)
}
