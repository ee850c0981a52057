//! The laws of every chunk, the cost of every decision, and the plain loop that the window must equal.

mod cached;
mod cost;
mod lanes;
mod laws;
mod stream;
mod stub;
mod window;
