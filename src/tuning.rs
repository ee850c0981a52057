//! Finding the threshold for a text by asking somebody who knows it.
//!
//! A [`Sample`] holds every run of a few consecutive sentences with the similarity of its first sentence and the whole
//! run, sorted. A [`Search`] walks that list by halves: it shows a run, takes the [`Verdict`] whether it holds together,
//! and after about `log2` of the number of runs knows the smallest similarity that does. A [`Tuner`] does so for one or
//! several texts, a [`Session`] keeps every answer on the disk, and a [`Profile`] is what comes of it. The method is the
//! window tuner of Horchunk; there is no terminal code here and nothing waits: whoever judges (a person, or a [`Judge`])
//! drives the search.

mod judge;
mod profile;
mod sample;
mod search;
mod session;
mod tuner;

pub use judge::{
    Judge, JudgeError, Judged, LlmJudge, Question, ScriptJudge, TargetJudge, UnknownVerdict, median, parse_verdict,
};
pub use profile::{Profile, ProfileError, Provenance};
pub use sample::{Run, Sample, SampleError, Sampler};
pub use search::{Answer, Phase, Search, Verdict};
pub use session::{Answered, Restored, Session, SessionError, SessionFile, SessionSettings, TextStamp, newest_session};
pub use tuner::{Agreement, Found, Judgement, Tuner, TunerSettings, cut_down};
