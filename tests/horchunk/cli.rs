//! The program on input that is well: settings, formats, outputs, and the proof of its own work.

mod answer;
mod budget;
mod cache;
mod chunk;
mod chunkers;
mod corpus;
mod eval;
mod eval_answers;
mod models;
mod output;
mod shell;
mod tune;
mod verify;
