//! The `horchunk` program: parse, run, exit code.

mod cli;
mod tui;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = cli::Args::parse();
    match cli::run(args) {
        Ok(cli::Outcome::Done) => ExitCode::SUCCESS,
        Ok(cli::Outcome::SomeFailed) => ExitCode::from(1),
        // Whoever read our output has enough of it: not an error of ours.
        Err(error) if cli::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            cli::report(&error);
            ExitCode::from(cli::exit_code(&error))
        }
    }
}
