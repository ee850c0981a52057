//! Verdicts from a list that somebody wrote.

use std::str::FromStr;

use super::{Judge, JudgeError, Judged, Question};
use crate::tuning::search::Verdict;

/// Gives verdicts in the order of a list.
///
/// ```
/// use horchunk::tuning::ScriptJudge;
///
/// let judge: ScriptJudge = "holds\ndrifts\n# the next was hard\nskip\n".parse()?;
/// # Ok::<(), horchunk::tuning::UnknownVerdict>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScriptJudge {
    verdicts: std::vec::IntoIter<Option<Verdict>>,
}

/// A line of a script that is no verdict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {word:?} is no verdict: write holds (y, j), drifts (n, k) or skip (s)")]
pub struct UnknownVerdict {
    /// The line, from 1.
    pub line: usize,
    /// What stands there.
    pub word: String,
}

impl ScriptJudge {
    /// A judge that has these verdicts; `None` skips a run.
    #[must_use]
    pub fn new(verdicts: impl IntoIterator<Item = Option<Verdict>>) -> Self {
        Self { verdicts: verdicts.into_iter().collect::<Vec<_>>().into_iter() }
    }

    /// The same without the first so many verdicts, which were given before.
    #[must_use]
    pub fn after(self, given: usize) -> Self {
        Self::new(self.verdicts.skip(given))
    }
}

impl FromStr for ScriptJudge {
    type Err = UnknownVerdict;

    /// One verdict a line; empty lines and what follows a `#` do not count.
    fn from_str(script: &str) -> Result<Self, UnknownVerdict> {
        let words = script.lines().enumerate().map(|(at, line)| (at + 1, line.split('#').next().unwrap_or("").trim()));
        let verdicts = words
            .filter(|(_, word)| !word.is_empty())
            .map(|(line, word)| parse_verdict(word).ok_or_else(|| UnknownVerdict { line, word: word.to_owned() }));
        Ok(Self::new(verdicts.collect::<Result<Vec<_>, _>>()?))
    }
}

impl Judge for ScriptJudge {
    fn name(&self) -> String {
        "script".to_owned()
    }

    fn judge(&mut self, _: &Question<'_>) -> Result<Judged, JudgeError> {
        let verdict = self.verdicts.next().ok_or(JudgeError::Ended)?;
        Ok(Judged { verdict, grounds: None })
    }
}

/// The verdict that a word means, `Some(None)` for a skip; `None` for any other word.
#[must_use]
pub fn parse_verdict(word: &str) -> Option<Option<Verdict>> {
    match word.to_ascii_lowercase().as_str() {
        "holds" | "hold" | "yes" | "y" | "j" => Some(Some(Verdict::Holds)),
        "drifts" | "drift" | "no" | "n" | "k" => Some(Some(Verdict::Drifts)),
        "skip" | "s" => Some(None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(mut judge: ScriptJudge) -> Vec<Option<Verdict>> {
        let question = Question { sentences: vec!["a."], similarity: 0.5 };
        std::iter::from_fn(|| judge.judge(&question).ok().map(|judged| judged.verdict)).collect()
    }

    #[test]
    fn a_script_is_one_verdict_a_line() {
        let judge: ScriptJudge = "holds\r\n\n  K  # far off\n#nothing\nskip".parse().unwrap();
        let all = [Some(Verdict::Holds), Some(Verdict::Drifts), None];
        assert_eq!(verdicts(judge.clone()), all);
        assert_eq!(verdicts(judge.clone().after(2)), all[2..]);
        assert_eq!(verdicts(judge.after(9)), all[3..]);
    }

    #[test]
    fn a_word_that_is_no_verdict_is_named_with_its_line() {
        let error = "y\n\nmaybe\n".parse::<ScriptJudge>().unwrap_err();
        assert_eq!((error.line, error.word.as_str()), (3, "maybe"));
    }
}
