//! Finding the threshold for a text by asking somebody who knows it.
//!
//! A [`Sample`] holds every run of a few consecutive sentences with the similarity of its first sentence and the whole
//! run, sorted. A [`Search`] walks that list by halves: it shows a run, takes the [`Verdict`] whether it holds together,
//! and after about `log2` of the number of runs knows the smallest similarity that does. The method is the window tuner
//! of Horchunk; there is no terminal code here and nothing waits: whoever judges (a person, a language model, a script)
//! drives the search.

mod sample;
mod search;

pub use sample::{Run, Sample, SampleError, Sampler};
pub use search::{Answer, Search, Verdict};
