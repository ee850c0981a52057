//! Questions with short answers, and the documents that give them.

use std::path::Path;

use super::load::{AnswerFormat, Builder};
use crate::evaluation::dataset::{Corpus, OWN};
use crate::evaluation::stats::SplitMix;
use crate::tokens::{TokenCounter, TokenError};

/// What the questions of the set inside are asked of, beside the texts of the benchmark inside.
const TEXTS: [(&str, &str); 4] = [
    ("arabic_library.md", include_str!("../../../eval/answers/texts/arabic_library.md")),
    ("chinese_teahouse.md", include_str!("../../../eval/answers/texts/chinese_teahouse.md")),
    ("hindi_railway.md", include_str!("../../../eval/answers/texts/hindi_railway.md")),
    ("russian_lighthouse.md", include_str!("../../../eval/answers/texts/russian_lighthouse.md")),
];
const QUESTIONS: &str = include_str!("../../../eval/answers/questions.jsonl");

/// A question to one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerQuestion {
    /// Its name, unique in the set.
    pub id: String,
    /// The question.
    pub text: String,
    /// Number of its document in the set.
    pub document: usize,
    /// Right answers, each of them good; none where the document does not say it.
    pub answers: Vec<String>,
}

/// Questions and the documents they are asked of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerSet {
    /// What reports call it.
    pub name: String,
    /// In the order in which questions first name them.
    pub documents: Vec<Corpus>,
    /// In the order of the file.
    pub questions: Vec<AnswerQuestion>,
}

impl AnswerSet {
    /// The set inside this crate: 60 questions to ten texts in five languages, written for it; the texts do not answer
    /// 20 of them.
    #[must_use]
    pub fn own() -> Self {
        let mut builder = Builder::new("own", Path::new("eval/answers/questions.jsonl"));
        builder.read(AnswerFormat::Questions, QUESTIONS.as_bytes(), &|name| {
            let corpora = OWN.iter().map(|&(id, text)| (id, text)).chain(TEXTS);
            let mut texts = corpora.filter(|(id, _)| *id == name || Some(*id) == name.strip_suffix(".md"));
            texts.next().map(|(_, text)| text.to_owned()).ok_or_else(|| "there is no such text inside".to_owned())
        });
        builder.finish().set
    }

    /// The questions whose document has at least so many tokens.
    ///
    /// # Errors
    ///
    /// Where tokens cannot be counted.
    pub fn with_min_tokens(mut self, counter: &dyn TokenCounter, least: usize) -> Result<Self, TokenError> {
        let counts = self.documents.iter().map(|document| counter.count(&document.text));
        let counts: Vec<usize> = counts.collect::<Result<_, _>>()?;
        self.questions.retain(|question| counts[question.document] >= least);
        Ok(self.without_unasked())
    }

    /// At most so many of the questions, drawn without replacement, in the order of the file. The same ones for the same
    /// seed.
    #[must_use]
    pub fn sampled(mut self, most: usize, seed: u64) -> Self {
        let mut random = SplitMix(seed);
        let mut places: Vec<usize> = (0..self.questions.len()).collect();
        // The first steps of a Fisher-Yates shuffle draw as many as are wanted.
        let drawn = most.min(places.len());
        for at in 0..drawn {
            let other = at + random.below(places.len() - at);
            places.swap(at, other);
        }
        places.truncate(drawn);
        places.sort_unstable();
        self.questions = places.into_iter().map(|at| self.questions[at].clone()).collect();
        self.without_unasked()
    }

    /// Drops documents that no question is asked of.
    fn without_unasked(mut self) -> Self {
        let mut new = vec![None; self.documents.len()];
        let mut documents = Vec::new();
        for question in &mut self.questions {
            let place = new[question.document].get_or_insert_with(|| {
                documents.push(self.documents[question.document].clone());
                documents.len() - 1
            });
            question.document = *place;
        }
        self.documents = documents;
        self
    }
}
