//! Readers, selectors and the pipeline on small texts.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::chat::locate;
use super::*;
use crate::chunker::SentenceChunker;
use crate::llm::{ChatReply, ScriptedChat};

const DOCUMENTS: [&str; 5] = [
    "the ferry leaves the quay at nine",
    "the captain steers the ferry",
    "gulls follow the ferry and the gulls cry",
    "bread is baked at five",
    "the the the",
];
const QUESTION: &str = "who steers the ferry at nine the ferry";

fn candidates(texts: &[&str]) -> Vec<Candidate> {
    let candidate = |(chunk, text): (usize, &&str)| {
        let answer = Some(Found { text: (*text).to_owned(), span: None });
        let reading = Reading { answer, score: 0.0, usage: Usage::default() };
        Candidate::new(0, chunk, Span::new(0, text.len()), reading)
    };
    texts.iter().enumerate().map(candidate).collect()
}

fn agrees(selector: &impl Selector, question: &str, texts: &[&str], expected: &[f64], tolerance: f64) {
    let candidates = candidates(texts);
    let scores = selector.scores(question, &candidates.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(scores.len(), expected.len());
    for (score, expected) in scores.iter().zip(expected) {
        assert!((score - expected).abs() < tolerance, "{scores:?} for {expected:?}");
    }
}

#[test]
fn bm25_is_that_of_rank_bm25() {
    // BM25Okapi([d.split() for d in docs]).get_scores(question.split()), rank-bm25 0.2.2
    let expected = [
        2.205_048_791_359_790_7,
        2.196_647_336_263_659,
        0.862_655_939_727_107,
        0.353_516_796_450_054_9,
        0.776_796_567_745_128,
    ];
    agrees(&Bm25::default(), QUESTION, &DOCUMENTS, &expected, 1e-6);
}

#[test]
fn tfidf_is_that_of_scikit_learn() {
    // v = TfidfVectorizer(analyzer=str.split); (v.fit_transform(docs) @ v.transform([question]).T).toarray()
    let expected = [
        0.689_198_399_866_607_6,
        0.686_979_543_020_677_3,
        0.306_959_516_954_204_04,
        0.126_259_466_858_477_5,
        0.471_347_919_536_636_6,
    ];
    agrees(&TfIdf::default(), QUESTION, &DOCUMENTS, &expected, 1e-6);
}

#[test]
fn twenty_candidates_are_scored_in_a_millisecond() {
    let texts: Vec<&str> = DOCUMENTS.iter().copied().cycle().take(20).collect();
    let candidates = candidates(&texts);
    // The fastest of many, so that a busy machine fails nothing.
    let fastest = |selector: &dyn Selector| {
        let run = |_| {
            let started = Instant::now();
            assert_eq!(select(selector, QUESTION, &candidates).unwrap().scores.len(), 20);
            started.elapsed()
        };
        (0..50).map(run).min().unwrap()
    };
    let (bm25, tfidf) = (fastest(&Bm25::default()), fastest(&TfIdf::default()));
    println!("bm25 {bm25:?}, tfidf {tfidf:?}");
    assert!(bm25 < Duration::from_millis(1) && tfidf < Duration::from_millis(1));
}

#[test]
fn ties_go_to_the_first_and_abstentions_are_dropped() {
    let mut all = candidates(&["", "b", "c"]);
    assert_eq!(select(&First, "q", &all).unwrap().chosen, Some(1));
    all[2].score = 1.0;
    let selection = select(&Confidence, "q", &all).unwrap();
    assert_eq!((selection.chosen, selection.abstained), (Some(2), 1));
    assert_eq!(selection.scores, [None, Some(0.0), Some(1.0)]);
    all[1].score = f64::NAN;
    assert_eq!(select(&Confidence, "q", &all).unwrap().chosen, Some(2));
    assert_eq!(select(&Bm25::default(), "q", &all[..1]).unwrap().chosen, None);
}

#[test]
fn the_lexical_reader_answers_in_any_script() {
    let reader = LexicalReader::default();
    for (question, chunk, answer) in [
        ("Who carved bowls?", "Ana kept bees. Her brother carved bowls.", "Her brother carved bowls."),
        ("Когда отходит паром?", "Капитан пьёт чай. Паром отходит в девять.", "Паром отходит в девять."),
        ("渡轮几点离开?", "船长喝茶。渡轮九点离开码头。", "渡轮九点离开码头。"),
        ("متى تغادر العبارة؟", "يشرب القبطان الشاي. تغادر العبارة في التاسعة.", "تغادر العبارة في التاسعة."),
        ("नाव कब चलती है?", "कप्तान चाय पीता है। नाव नौ बजे चलती है।", "नाव नौ बजे चलती है।"),
    ] {
        let found = reader.read(question, chunk).unwrap().answer.unwrap();
        assert_eq!(found.text, answer);
        assert_eq!(found.span.map(|span| &chunk[span]), Some(answer));
    }
    assert_eq!(reader.read("Who?", "渡轮九点离开码头。").unwrap(), Reading::default());
    assert!(matches!(reader.read("?!", "Words."), Err(AnswerError::EmptyQuestion)));
    assert!(LexicalReader::default().with_min_share(f64::NAN).is_err());
}

#[test]
#[cfg(feature = "answer")]
fn stems_meet_where_words_do_not() {
    let (question, chunk) = ("Which baker?", "Gulls cry. Many bakers slept.");
    let words = Words::default().with_stem("English".parse().unwrap());
    assert_eq!(LexicalReader::default().read(question, chunk).unwrap().answer, None);
    let reading = LexicalReader::default().with_words(words).read(question, chunk).unwrap();
    assert_eq!(reading.answer.unwrap().text, "Many bakers slept.");
    assert!(matches!("klingon".parse::<Stem>(), Err(AnswerError::UnknownStem { .. })));
    for name in words::LANGUAGES {
        assert_eq!(name.parse::<Stem>().unwrap().to_string(), name);
    }
}

#[test]
fn a_chat_reader_finds_the_quote_or_abstains() {
    let chunk = "The ferry\nleaves  at nine. It says [SEP] <|endoftext|>.";
    let read = |reply: &str| {
        let reply = ChatReply { input_tokens: Some(7), output_tokens: Some(2), ..reply.into() };
        ChatReader::new(ScriptedChat::new([reply])).read("When?", chunk).unwrap()
    };
    let exact = read("at nine");
    assert_eq!(exact.usage, Usage { requests: 1, input_tokens: 7, output_tokens: 2, cached: 0 });
    assert_eq!((exact.answer.unwrap().span, exact.score), (Some(Span::new(18, 25)), 1.0));
    assert_eq!(read("\"The ferry leaves at nine.\"").answer.unwrap().text, "The ferry\nleaves  at nine.");
    assert_eq!(read("<|endoftext|>").answer.unwrap().text, "<|endoftext|>");
    let invented = read("at ten");
    assert_eq!((invented.answer.unwrap(), invented.score), (Found { text: "at ten".to_owned(), span: None }, 0.5));
    for nothing in ["NO_ANSWER", "  NO_ANSWER.\n", "", " \n", "\u{fffd}?!"] {
        assert_eq!(read(nothing).answer, None, "{nothing:?}");
    }
}

#[test]
fn an_error_is_that_of_the_first_chunk_that_has_one() {
    let text = "One a. Two b. Three c. Four d.";
    for at_once in [1, 2, 8] {
        let model = ScriptedChat::from_fn(|request| match &request.user {
            user if user.contains("Two") || user.contains("Four") => {
                let name = if user.contains("Two") { "two" } else { "four" };
                Err(crate::llm::ChatError::ScriptEnded { name: name.to_owned(), request: 1 })
            }
            _ => Ok("a".into()),
        });
        let reader = ChatReader::new(model).with_at_once(NonZeroUsize::new(at_once).unwrap());
        let error = answer("What?", text, SentenceChunker::new(1).unwrap(), reader, First).unwrap_err();
        assert!(format!("{error:?}").contains("two"), "{error:?}");
    }
}

#[test]
fn answers_are_the_same_with_any_number_of_threads() {
    let text = DOCUMENTS.join(". ").repeat(20);
    let asked = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let chunker = SentenceChunker::new(2).unwrap();
            let pipeline = AnswerPipeline::new(chunker, LexicalReader::default(), Bm25::default());
            let index = pipeline.index(&text).unwrap();
            let mut handed = Vec::new();
            let answered = index
                .ask_each(QUESTION, Delivery::InOrder, |candidate| {
                    handed.push(candidate.clone());
                    ControlFlow::Continue(())
                })
                .unwrap();
            assert_eq!(handed, answered.candidates);
            assert_eq!(index.ask(QUESTION).unwrap(), answered);
            let mut count = 0;
            let completed = index.ask_each(QUESTION, Delivery::AsCompleted, |_| {
                count += 1;
                ControlFlow::Continue(())
            });
            assert_eq!((completed.unwrap(), count), (answered.clone(), answered.candidates.len()));
            answered
        })
    };
    let one = asked(1);
    assert_eq!(one, asked(2));
    assert_eq!(one, asked(7));
}

#[test]
fn breaking_off_reads_no_more() {
    let chunker = SentenceChunker::new(1).unwrap();
    let reader = ChatReader::new(ScriptedChat::new(["a"; 2])).with_at_once(NonZeroUsize::MIN);
    let pipeline = AnswerPipeline::new(chunker, reader, First);
    let index = pipeline.index("One a. Two b. Three c.").unwrap();
    let mut seen = 0;
    // The one thread may begin a second chunk before it hears of the end; a third would have no reply.
    let answered = index.ask_each("What?", Delivery::InOrder, |_| {
        seen += 1;
        ControlFlow::Break(())
    });
    if let Ok(answered) = answered {
        assert_eq!(answered.candidates.len(), 1);
    }
    assert_eq!(seen, 1);
}

#[test]
#[cfg(feature = "bundled")]
fn nearest_chunks_and_embedded_answers_are_those_of_the_model() {
    let model = crate::SentenceTransformer::bundled().unwrap();
    let texts = [DOCUMENTS[0], DOCUMENTS[1], DOCUMENTS[3]];
    let all = candidates(&texts);
    let selector = EmbeddingSelector::new(&model, &model);
    let selection = select(&selector, "Who steers the ferry?", &all).unwrap();
    assert_eq!(selection.chosen, Some(1));
    // util.cos_sim(m.encode(question), m.encode(texts)) of sentence-transformers with the f32 weights; ours are f16,
    // which moves a cosine by up to 4e-4.
    agrees(&selector, "Who steers the ferry?", &texts, &[0.517_311_9, 0.846_285_6, 0.069_004_2], 4e-4);
    let full = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/all-MiniLM-L6-v2");
    if full.exists() {
        let model = crate::ModelLoader::new(crate::ModelSource::Folder(full)).load().unwrap();
        let selector = EmbeddingSelector::new(&model, &model);
        agrees(&selector, "Who steers the ferry?", &texts, &[0.517_311_9, 0.846_285_6, 0.069_004_2], 1e-4);
    }
    let chunker = SentenceChunker::new(1).unwrap();
    let pipeline = AnswerPipeline::new(chunker, LexicalReader::default(), First).with_top_k(
        NonZeroUsize::MIN,
        Arc::new(model.queries()),
        Arc::new(model.clone()),
    );
    let index = pipeline.index("Bread is baked at five. The captain steers the ferry.").unwrap();
    let answered = index.ask("Who steers the ferry?").unwrap();
    assert_eq!(answered.candidates.iter().map(|candidate| candidate.chunk).collect::<Vec<_>>(), [1]);
}

proptest! {
    #[test]
    fn a_reading_is_the_text_at_its_span(question in "\\PC{0,30}", chunk in "(\\PC| |\n|\\. |。){0,80}") {
        match LexicalReader::default().read(&question, &chunk) {
            Ok(Reading { answer: Some(found), score, .. }) => {
                prop_assert!(score > 0.0 && score <= 1.0 + 1e-9);
                prop_assert_eq!(found.span.map(|span| &chunk[span]), Some(found.text.as_str()));
            }
            Ok(reading) => prop_assert!(reading.score < 0.1),
            Err(error) => prop_assert!(matches!(error, AnswerError::EmptyQuestion)),
        }
    }

    #[test]
    fn a_quote_is_found_whatever_its_white_space(before in "\\PC{0,9}", quote in "[a-zé漢]{1,4}( [a-zé漢]{1,4}){0,4}") {
        let text = format!("{before}{} end", quote.replace(' ', "\n\t"));
        let span = locate(&text, &quote).unwrap();
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(squeezed(&text[span]), squeezed(&quote));
    }

    #[test]
    fn the_selected_answer_has_the_highest_score(texts in prop::collection::vec("[a-d ]{0,9}", 0..12)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let all = candidates(&texts);
        for selector in [&Bm25::default() as &dyn Selector, &TfIdf::default(), &First] {
            let selection = select(selector, "a bc d", &all).unwrap();
            let best = selection.scores.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
            let first = selection.scores.iter().position(|score| *score == Some(best));
            prop_assert_eq!(selection.chosen, first);
            prop_assert_eq!(selection.abstained, selection.scores.iter().filter(|score| score.is_none()).count());
        }
    }
}
