//! The messages API of Anthropic.
//!
//! Reference: <https://docs.anthropic.com/en/api/messages>.

use serde::Serialize;
use serde_json::Value;

use super::{ChatReply, ChatRequest, Dialect, Wire};

pub(super) const WIRE: Wire = Wire {
    base_url: "https://api.anthropic.com",
    url_variable: "ANTHROPIC_BASE_URL",
    key_variable: "ANTHROPIC_API_KEY",
    path: "/v1/messages",
    headers: &[("anthropic-version", "2023-06-01")],
    key_header: ("x-api-key", ""),
    body,
    reply,
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    system: &'a str,
    messages: [Message<'a>; 1],
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

fn body(model: &str, request: &ChatRequest<'_>, dialect: Dialect) -> Vec<u8> {
    let body = Body {
        model,
        system: &request.system,
        messages: [Message { role: "user", content: &request.user }],
        max_tokens: request.max_tokens,
        temperature: (!dialect.fixed_temperature).then_some(request.temperature),
    };
    serde_json::to_vec(&body).expect("texts and numbers have a JSON form")
}

fn reply(answer: &Value) -> Result<ChatReply, &'static str> {
    let blocks = answer.get("content").and_then(Value::as_array).ok_or("JSON without content")?;
    // Blocks of other types hold thoughts.
    let is_text = |block: &&Value| block.get("type").and_then(Value::as_str) == Some("text");
    let text = blocks.iter().filter(is_text).filter_map(|block| block.get("text")?.as_str()).collect();
    let stop = answer.get("stop_reason").and_then(Value::as_str);
    let truncated = matches!(stop, Some("max_tokens" | "model_context_window_exceeded"));
    let tokens = |name| answer.get("usage")?.get(name)?.as_u64();
    let (input_tokens, output_tokens) = (tokens("input_tokens"), tokens("output_tokens"));
    Ok(ChatReply { text, input_tokens, output_tokens, truncated, cached: false })
}
