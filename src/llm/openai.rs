//! The chat API of OpenAI, which Ollama, vLLM, llama.cpp and most others speak as well.
//!
//! Reference: <https://platform.openai.com/docs/api-reference/chat>.

use serde::Serialize;
use serde_json::Value;

use super::{ChatReply, ChatRequest, Dialect, Wire};

pub(super) const WIRE: Wire = Wire {
    base_url: "https://api.openai.com/v1",
    url_variable: "OPENAI_BASE_URL",
    key_variable: "OPENAI_API_KEY",
    path: "/chat/completions",
    headers: &[],
    key_header: ("authorization", "Bearer "),
    body,
    reply,
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

fn body(model: &str, request: &ChatRequest<'_>, dialect: Dialect) -> Vec<u8> {
    let system = Message { role: "system", content: &request.system };
    let user = Message { role: "user", content: &request.user };
    let renamed = dialect.max_completion_tokens;
    let body = Body {
        model,
        messages: if request.system.is_empty() { vec![user] } else { vec![system, user] },
        max_tokens: (!renamed).then_some(request.max_tokens),
        max_completion_tokens: renamed.then_some(request.max_tokens),
        temperature: (!dialect.fixed_temperature).then_some(request.temperature),
    };
    serde_json::to_vec(&body).expect("texts and numbers have a JSON form")
}

fn reply(answer: &Value) -> Result<ChatReply, &'static str> {
    let choice = answer.pointer("/choices/0").ok_or("JSON without choices")?;
    let message = choice.get("message").ok_or("a choice without a message")?;
    let truncated = choice.get("finish_reason").and_then(Value::as_str) == Some("length");
    // Without content there may be a refusal, or thoughts that used up all tokens.
    let text = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => match message.get("refusal").and_then(Value::as_str) {
            Some(refusal) => refusal.to_owned(),
            None if truncated => String::new(),
            None => return Err("a message without content"),
        },
    };
    let tokens = |name| answer.get("usage")?.get(name)?.as_u64();
    let (input_tokens, output_tokens) = (tokens("prompt_tokens"), tokens("completion_tokens"));
    Ok(ChatReply { text, input_tokens, output_tokens, truncated, cached: false })
}
