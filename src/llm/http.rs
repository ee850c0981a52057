//! The one way to chat servers: what to send, when to ask again, and what to say when it fails.
//!
//! [`ChatEndpoint::open`] makes the [`ChatClient`] that asks. Statuses that pass
//! (408, 409, 425, 429, 5xx) and failing connections are tried again as [`Retry`](super::Retry) says, an answer that is late or
//! makes no sense once more, and all else not at all. Proxies are those of the environment (`HTTPS_PROXY`,
//! `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`), except for servers on this machine. Redirects are not followed: the key
//! is for the address that was given.

#[cfg_attr(feature = "llm", path = "http/present.rs")]
#[cfg_attr(not(feature = "llm"), path = "http/absent.rs")]
mod transport;

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::endpoint::ChatEndpoint;
use super::{ChatError, ChatModel, ChatReply, ChatRequest, Dialect, cached};
use transport::Transport;

/// Bytes of an answer that are read at most.
const MAX_ANSWER: u64 = 10 << 20;
/// Characters of a server's words that an error repeats at most.
const MAX_EXCERPT: usize = 300;

/// A model behind a server; [`ChatEndpoint::open`] makes it. Threads may share it, and share its connections then.
#[derive(Debug)]
pub struct ChatClient {
    endpoint: ChatEndpoint,
    transport: Transport,
    // The dialect found so far.
    max_completion_tokens: AtomicBool,
    fixed_temperature: AtomicBool,
}

impl ChatModel for ChatClient {
    fn name(&self) -> &str {
        &self.endpoint.model
    }

    fn chat(&self, request: &ChatRequest<'_>) -> Result<ChatReply, ChatError> {
        cached::or_asked(&self.endpoint, request, || self.ask_adapted(request))
    }
}

/// Whether a failure may pass.
enum Again {
    /// It will not.
    Never,
    /// Perhaps; one more attempt, not more, finds out.
    Once,
    /// It may, after this wait if the server named one.
    Later(Option<Duration>),
}

impl ChatClient {
    pub(super) fn new(endpoint: ChatEndpoint) -> Result<Self, ChatError> {
        let transport = Transport::new(&endpoint)?;
        let (max_completion_tokens, fixed_temperature) = Default::default();
        Ok(Self { endpoint, transport, max_completion_tokens, fixed_temperature })
    }

    /// Asks in the dialect that the model is found to take.
    fn ask_adapted(&self, request: &ChatRequest<'_>) -> Result<ChatReply, ChatError> {
        let body = |dialect| (self.endpoint.api.wire().body)(&self.endpoint.model, request, dialect);
        let mut dialect = Dialect {
            max_completion_tokens: self.max_completion_tokens.load(Ordering::Relaxed),
            fixed_temperature: self.fixed_temperature.load(Ordering::Relaxed),
        };
        let mut asked = body(dialect);
        loop {
            let error = match self.ask(&asked) {
                Ok(reply) => {
                    self.max_completion_tokens.fetch_or(dialect.max_completion_tokens, Ordering::Relaxed);
                    self.fixed_temperature.fetch_or(dialect.fixed_temperature, Ordering::Relaxed);
                    return Ok(reply);
                }
                Err(error) => error,
            };
            dialect = dialect.adapted_to(&error);
            // Each of the two can change once, so that this ends.
            match body(dialect) {
                same if same == asked => return Err(error),
                other => asked = other,
            }
        }
    }

    /// Sends one body until it is replied to or there is no use in going on.
    fn ask(&self, body: &[u8]) -> Result<ChatReply, ChatError> {
        let retry = &self.endpoint.retry;
        let mut once_more = true;
        let mut attempt = 1;
        loop {
            let (error, again) = match self.attempt(body, attempt) {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            let asked_for = match again {
                Again::Once if mem::take(&mut once_more) => None,
                Again::Later(wait) => wait,
                Again::Never | Again::Once => return Err(error),
            };
            if attempt == retry.attempts {
                return Err(error);
            }
            if !(retry.sleep)(retry.wait(attempt, asked_for)) {
                return Err(ChatError::Interrupted { url: self.url() });
            }
            attempt += 1;
        }
    }

    /// Sends one body once.
    fn attempt(&self, body: &[u8], attempts: u32) -> Result<ChatReply, (ChatError, Again)> {
        let wire = self.endpoint.api.wire();
        let (header, prefix) = wire.key_header;
        let key = self.endpoint.key.as_ref().map(|key| (header, format!("{prefix}{}", key.0)));
        let fixed = wire.headers.iter().map(|&(name, value)| (name, value.to_owned()));
        let headers: Vec<_> = fixed.chain(key).collect();
        let (url, variable) = (self.url(), wire.url_variable);
        match self.transport.post(&self.endpoint.address.full, &headers, body) {
            Ok(answer) if (200..300).contains(&answer.status) => {
                self.read(&answer.body).map_err(|error| (error, Again::Once))
            }
            Ok(answer) => Err(self.refusal(&answer, attempts)),
            Err(Failure::Connection(source)) => {
                Err((ChatError::Unreachable { url, attempts, variable, source }, Again::Later(None)))
            }
            Err(Failure::Timeout) => Err((ChatError::Timeout { url, limit: self.endpoint.timeout }, Again::Once)),
            Err(Failure::TooLong) => Err((ChatError::TooLong { url, limit: MAX_ANSWER, variable }, Again::Never)),
        }
    }

    /// The reply in the body of a good answer.
    pub(super) fn read(&self, body: &[u8]) -> Result<ChatReply, ChatError> {
        let wire = self.endpoint.api.wire();
        let reply = match serde_json::from_slice::<Value>(body) {
            Ok(answer) => (wire.reply)(&answer),
            Err(_) if body.trim_ascii().is_empty() => Err("nothing"),
            Err(_) => Err("something other than JSON"),
        };
        let (url, variable) = (self.url(), wire.url_variable);
        reply.map_err(|problem| ChatError::Malformed { url, problem, excerpt: self.excerpt(body), variable })
    }

    /// What a status other than success means.
    fn refusal(&self, answer: &Answer, attempts: u32) -> (ChatError, Again) {
        let wire = self.endpoint.api.wire();
        let (url, status, model) = (self.url(), answer.status, self.endpoint.model.clone());
        let message = self.excerpt(&answer.body);
        match status {
            401 | 403 => (ChatError::Unauthorized { url, status, message, variable: wire.key_variable }, Again::Never),
            404 => (ChatError::NotFound { url, model, message, variable: wire.url_variable }, Again::Never),
            408 | 409 | 425 | 429 | 500.. => {
                (ChatError::Unavailable { url, status, attempts, message }, Again::Later(answer.retry_after))
            }
            _ => (ChatError::Rejected { url, model, status, message }, Again::Never),
        }
    }

    fn url(&self) -> String {
        self.endpoint.address.shown.clone()
    }

    /// What a server says, on one line and without the key: its message if the body has one, else how it begins.
    fn excerpt(&self, body: &[u8]) -> String {
        let text = match serde_json::from_slice::<Value>(body) {
            Ok(answer) => message(&answer).unwrap_or_else(|| answer.to_string()),
            Err(_) => String::from_utf8_lossy(body).into_owned(),
        };
        let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
        let mut line = words.collect::<Vec<_>>().join(" ");
        if let Some(key) = &self.endpoint.key {
            line = line.replace(&key.0, "[key]");
        }
        match line.char_indices().nth(MAX_EXCERPT) {
            Some((end, _)) => line.truncate(end),
            None if line.is_empty() => line.push_str("without a word"),
            None => {}
        }
        line
    }
}

/// The message of an error in JSON, with the parameter it is about.
fn message(answer: &Value) -> Option<String> {
    let places = ["/error/message", "/message", "/error", "/detail"];
    let message = places.iter().find_map(|place| answer.pointer(place)?.as_str())?;
    match answer.pointer("/error/param").and_then(Value::as_str) {
        Some(parameter) if !message.contains(parameter) => Some(format!("{parameter}: {message}")),
        _ => Some(message.to_owned()),
    }
}

/// What came back from a server.
struct Answer {
    status: u16,
    retry_after: Option<Duration>,
    body: Vec<u8>,
}

/// Why nothing came back.
#[cfg_attr(not(feature = "llm"), expect(dead_code, reason = "only the network fails"))]
enum Failure {
    Connection(Box<dyn std::error::Error + Send + Sync>),
    Timeout,
    TooLong,
}
