//! The records of each format.

use serde::Deserialize;
use serde_json::Value;

use super::{Asked, Builder, Texts, typed};

/// A line of our own form.
pub(super) fn question(builder: &mut Builder<'_>, record: Value, texts: Texts<'_>) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Record {
        id: String,
        document: String,
        question: String,
        answers: Vec<String>,
    }
    let Record { id, document, question, answers } = typed(record)?;
    let text = || texts(&document).map_err(|problem| format!("document {document:?}: {problem}"));
    builder.ask(Asked { id, text: question, answers }, &document, text)
}

/// The articles of SQuAD, with paragraphs that have questions.
pub(super) fn squad(builder: &mut Builder<'_>, value: Value) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Whole {
        data: Vec<Value>,
    }
    #[derive(Deserialize)]
    struct Article {
        #[serde(default)]
        title: String,
        paragraphs: Vec<Value>,
    }
    #[derive(Deserialize)]
    struct Paragraph {
        context: String,
        qas: Vec<Value>,
    }
    for (at, article) in typed::<Whole>(value)?.data.into_iter().enumerate() {
        let place = format!("data[{at}]");
        let article: Article = match typed(article) {
            Ok(article) => article,
            Err(problem) => {
                builder.note(&place, Err(problem));
                continue;
            }
        };
        for (number, paragraph) in article.paragraphs.into_iter().enumerate() {
            let place = format!("{place}.paragraphs[{number}]");
            // Two articles may have one title.
            let document = format!("{} {at}.{number}", article.title);
            let taken = typed::<Paragraph>(paragraph).map(|Paragraph { context, qas }| {
                for (at, record) in qas.into_iter().enumerate() {
                    let asked = squad_question(record);
                    let taken = asked.and_then(|asked| builder.ask(asked, &document, || Ok(context.clone())));
                    builder.note(&format!("{place}.qas[{at}]"), taken);
                }
            });
            builder.note(&place, taken);
        }
    }
    Ok(())
}

fn squad_question(record: Value) -> Result<Asked, String> {
    #[derive(Deserialize)]
    struct Record {
        id: String,
        question: String,
        answers: Vec<Answer>,
        #[serde(default)]
        is_impossible: bool,
    }
    #[derive(Deserialize)]
    struct Answer {
        text: String,
    }
    let Record { id, question, answers, is_impossible } = typed(record)?;
    let answers = if is_impossible { Vec::new() } else { answers.into_iter().map(|answer| answer.text).collect() };
    Ok(Asked { id, text: question, answers })
}

/// A line of the simplified Natural Questions: tokens parted by spaces, tags among them.
pub(super) fn natural(builder: &mut Builder<'_>, record: Value) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Record {
        example_id: Value,
        question_text: String,
        document_text: String,
        annotations: Vec<Annotation>,
    }
    #[derive(Deserialize)]
    struct Annotation {
        short_answers: Vec<Tokens>,
        #[serde(default)]
        yes_no_answer: String,
    }
    #[derive(Deserialize)]
    struct Tokens {
        start_token: usize,
        end_token: usize,
    }
    let record: Record = typed(record)?;
    let id = record.example_id.as_str().map_or_else(|| record.example_id.to_string(), str::to_owned);
    let tokens: Vec<&str> = record.document_text.split(' ').collect();
    let mut answers = Vec::new();
    for (number, annotation) in record.annotations.iter().enumerate() {
        for (at, span) in annotation.short_answers.iter().enumerate() {
            let place = || format!("annotations[{number}].short_answers[{at}]");
            let within = tokens.get(span.start_token..span.end_token);
            let within = within.ok_or_else(|| {
                let (start, end) = (span.start_token, span.end_token);
                format!("{}: tokens {start}..{end} of {} are none", place(), tokens.len())
            })?;
            answers.push(without_tags(within));
        }
        if matches!(annotation.yes_no_answer.as_str(), "YES" | "NO") {
            answers.push(annotation.yes_no_answer.to_lowercase());
        }
    }
    let question = Asked { id: id.clone(), text: record.question_text, answers };
    builder.ask(question, &id, || Ok(without_tags(&tokens)))
}

/// Tokens joined by spaces, by a line break where tags stand between them.
fn without_tags(tokens: &[&str]) -> String {
    let is_tag = |token: &str| token.starts_with('<') && token.ends_with('>');
    let lines = tokens.split(|token| is_tag(token)).filter(|line| !line.is_empty());
    lines.map(|line| line.join(" ")).collect::<Vec<_>>().join("\n")
}

/// The questions of TriviaQA; each has a document of all pages that are its evidence.
pub(super) fn trivia(builder: &mut Builder<'_>, value: Value, texts: Texts<'_>) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Whole {
        #[serde(rename = "Data")]
        data: Vec<Value>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Record {
        question_id: String,
        question: String,
        answer: Answer,
        #[serde(default)]
        entity_pages: Vec<Page>,
        #[serde(default)]
        search_results: Vec<Page>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Answer {
        value: String,
        #[serde(default)]
        aliases: Vec<String>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Page {
        filename: String,
    }
    for (at, record) in typed::<Whole>(value)?.data.into_iter().enumerate() {
        let taken = typed::<Record>(record).and_then(|record| {
            let Record { question_id: id, question, answer, entity_pages, search_results } = record;
            let folders = [("EntityPages", "wikipedia", entity_pages), ("SearchResults", "web", search_results)];
            let text = || {
                let mut pages = Vec::new();
                for (field, folder, files) in folders {
                    for (at, Page { filename }) in files.iter().enumerate() {
                        let text = texts(&format!("{folder}/{filename}"));
                        pages.push(text.map_err(|problem| format!("{field}[{at}].Filename: {problem}"))?);
                    }
                }
                Ok(pages.join("\n\n"))
            };
            let mut answers = vec![answer.value];
            answers.extend(answer.aliases);
            answers.retain(|answer| !answer.trim().is_empty());
            if answers.is_empty() {
                return Err("Answer: neither Value nor Aliases hold one".to_owned());
            }
            builder.ask(Asked { id: id.clone(), text: question, answers }, &id, text)
        });
        builder.note(&format!("Data[{at}]"), taken);
    }
    Ok(())
}

/// The questions of HotpotQA, each with its ten paragraphs.
pub(super) fn hotpot(builder: &mut Builder<'_>, value: Value) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Record {
        #[serde(rename = "_id")]
        id: String,
        question: String,
        answer: String,
        context: Vec<(String, Vec<String>)>,
    }
    for (at, record) in typed::<Vec<Value>>(value)?.into_iter().enumerate() {
        let taken = typed::<Record>(record).and_then(|Record { id, question, answer, context }| {
            let paragraphs = context.iter().map(|(title, sentences)| format!("{title}\n{}", sentences.concat()));
            let text = paragraphs.collect::<Vec<_>>().join("\n\n");
            builder.ask(Asked { id: id.clone(), text: question, answers: vec![answer] }, &id, || Ok(text))
        });
        builder.note(&format!("[{at}]"), taken);
    }
    Ok(())
}
