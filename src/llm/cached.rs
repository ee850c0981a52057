//! Replies that are remembered.
//!
//! A reply depends on the request, the model and where it is; all three are taken apart below without `..`, so that a
//! field that is added must be looked at here.

use serde::{Deserialize, Serialize};

use super::endpoint::ChatEndpoint;
use super::{ChatApi, ChatError, ChatReply, ChatRequest};
use crate::cache::CacheKey;

/// A reply as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    text: String,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    truncated: bool,
}

/// The reply that the endpoint's cache holds for this request, or else the one of `ask`, which is kept then.
pub(super) fn or_asked(
    endpoint: &ChatEndpoint,
    request: &ChatRequest<'_>,
    ask: impl FnOnce() -> Result<ChatReply, ChatError>,
) -> Result<ChatReply, ChatError> {
    let Some(cache) = endpoint.cache.as_ref().filter(|_| request.temperature <= 0.0) else { return ask() };
    let key = key(endpoint, request);
    if let Some(kept) = cache.get(&key).and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
        let Kept { text, input_tokens, output_tokens, truncated } = kept;
        return Ok(ChatReply { text, input_tokens, output_tokens, truncated, cached: true });
    }
    let reply = ask()?;
    let ChatReply { text, input_tokens, output_tokens, truncated, cached: _ } = reply.clone();
    // Strings and numbers can always be written.
    if let Ok(bytes) = serde_json::to_vec(&Kept { text, input_tokens, output_tokens, truncated }) {
        cache.put(&key, &bytes);
    }
    Ok(reply)
}

pub(super) fn key(endpoint: &ChatEndpoint, request: &ChatRequest<'_>) -> CacheKey {
    // Who asks and how patiently changes no reply.
    let ChatEndpoint { api, model, address, key: _, connect_timeout: _, timeout: _, retry: _, cache: _ } = endpoint;
    let ChatRequest { system, user, max_tokens, temperature } = request;
    let api = match api {
        ChatApi::OpenAi => "openai",
        ChatApi::Anthropic => "anthropic",
    };
    let texts = ["chat", api, &address.full, model, system, user].map(str::as_bytes);
    let numbers = [max_tokens.to_le_bytes(), temperature.to_bits().to_le_bytes()];
    CacheKey::of(texts.into_iter().chain(numbers.iter().map(<[u8; 4]>::as_slice)))
}
