//! The product as a user has it: the library with the real model, and the program. One binary, since each carries
//! the bundled weights.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by them")]

mod answers;
mod bad_input;
mod benchmark;
mod budgets;
mod cases;
mod cli;
mod parity;
mod schedule;
mod server;
mod static_model;
mod support;
mod terminal;
