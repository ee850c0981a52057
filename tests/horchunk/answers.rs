//! The reader without a model on our questions: it finds the sentence in any script.

use std::fs;

use horchunk::answer::{AnswerPipeline, Confidence, LexicalReader};
use horchunk::{SentenceChunker, SentenceSplitter, UnicodeSplitter};
use serde::Deserialize;

use crate::support::repository;

#[derive(Debug, Deserialize)]
struct Asked {
    document: String,
    question: String,
    answers: Vec<String>,
    language: String,
}

#[test]
fn questions_in_four_scripts_are_answered_by_the_sentence_that_says_it() {
    let lines = fs::read_to_string(repository("eval/answers/questions.jsonl")).unwrap();
    let all: Vec<Asked> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((all.len(), all.iter().filter(|question| question.answers.is_empty()).count()), (60, 20));
    for (language, document) in
        [("ru", "russian_lighthouse"), ("zh", "chinese_teahouse"), ("ar", "arabic_library"), ("hi", "hindi_railway")]
    {
        let text = fs::read_to_string(repository(&format!("eval/answers/texts/{document}.md"))).unwrap();
        // The whole text is one chunk, so that words are weighed by how rare they are in all of it.
        let sentences = UnicodeSplitter::default().split(&text).unwrap().len();
        let chunker = SentenceChunker::new(sentences).unwrap();
        let pipeline = AnswerPipeline::new(chunker, LexicalReader::default(), Confidence);
        let index = pipeline.index(&text).unwrap();
        let mut found = Vec::new();
        for question in all.iter().filter(|question| question.language == language && !question.answers.is_empty()) {
            assert_eq!(question.document, format!("{document}.md"));
            let answered = index.ask(&question.question).unwrap();
            let answer = answered.chosen().and_then(|candidate| candidate.answer.as_ref()).unwrap();
            assert_eq!(&text[answer.span.unwrap()], answer.text);
            found.push(question.answers.iter().any(|right| answer.text.contains(right)));
        }
        println!("{language}: {found:?}");
        assert!(found.len() == 4 && found.iter().filter(|&&right| right).count() >= 3, "{language}: {found:?}");
    }
}
