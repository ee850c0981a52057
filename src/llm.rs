//! Large language models: one question in, one reply out.
//!
//! [`ChatModel`] is all that the rest of this crate knows of them. A [`ChatEndpoint`] describes a server and opens a
//! [`ChatClient`] to it; [`ScriptedChat`] replies from a list or a function, without any server. How a server wants
//! to be asked is one `Wire` an API (`openai`, `anthropic`); everything that may go wrong on the way is dealt with
//! in `http`. Nothing here keeps a conversation, streams, or calls tools: who chunks and answers needs none of that.

mod anthropic;
mod cached;
mod endpoint;
mod http;
mod openai;
mod retry;
mod scripted;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;

pub use endpoint::ChatEndpoint;
pub use http::ChatClient;
pub use retry::Retry;
pub use scripted::ScriptedChat;

/// One question to a language model.
///
/// ```
/// use horchunk::llm::ChatRequest;
///
/// let request = ChatRequest::new("Answer with one word.", "What carries sand?").with_max_tokens(16);
/// assert_eq!((request.max_tokens, request.temperature), (16, 0.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChatRequest<'a> {
    /// How the model is to behave; empty for a model's own way.
    pub system: Cow<'a, str>,
    /// What it is asked.
    pub user: Cow<'a, str>,
    /// The reply has no more tokens than this. Models that think count their thoughts too.
    pub max_tokens: u32,
    /// 0 for the likeliest words, more for variety. A model that has a fixed temperature keeps it.
    pub temperature: f32,
}

impl<'a> ChatRequest<'a> {
    /// A question at temperature 0 with up to 1024 tokens for the reply.
    #[must_use]
    pub fn new(system: impl Into<Cow<'a, str>>, user: impl Into<Cow<'a, str>>) -> Self {
        Self { system: system.into(), user: user.into(), max_tokens: 1024, temperature: 0.0 }
    }

    /// The same with room for a reply of this many tokens.
    #[must_use]
    pub fn with_max_tokens(mut self, max_tokens: u32) -> Self {
        self.max_tokens = max_tokens;
        self
    }

    /// The same at this temperature.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f32) -> Self {
        self.temperature = temperature;
        self
    }

    /// The same with texts of its own.
    #[must_use]
    pub fn into_owned(self) -> ChatRequest<'static> {
        let (system, user) = (self.system.into_owned().into(), self.user.into_owned().into());
        ChatRequest { system, user, max_tokens: self.max_tokens, temperature: self.temperature }
    }
}

/// What a language model replied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatReply {
    /// The words; none if all tokens went into thoughts.
    pub text: String,
    /// Tokens of the question, as the server counts them.
    pub input_tokens: Option<u64>,
    /// Tokens of the reply, thoughts included, as the server counts them.
    pub output_tokens: Option<u64>,
    /// The reply was cut off by the token limit.
    pub truncated: bool,
    /// It was remembered ([`ChatEndpoint::with_cache`]): no server was asked, and its tokens were paid for before.
    pub cached: bool,
}

impl From<String> for ChatReply {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<&str> for ChatReply {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// A language model that can be asked.
pub trait ChatModel: Send + Sync {
    /// The model's name, such as `gpt-4o-mini`.
    fn name(&self) -> &str;

    /// Asks one question and waits for the whole reply.
    ///
    /// # Errors
    ///
    /// [`ChatError`]: no reply could be had.
    fn chat(&self, request: &ChatRequest<'_>) -> Result<ChatReply, ChatError>;
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<M: ChatModel + ?Sized> ChatModel for $pointer {
            fn name(&self) -> &str {
                (**self).name()
            }

            fn chat(&self, request: &ChatRequest<'_>) -> Result<ChatReply, ChatError> {
                (**self).chat(request)
            }
        }
    )*};
}

forward!(&M, Box<M>, std::sync::Arc<M>);

/// Why no reply could be had. Addresses are shown without query and credentials, and an API key is never shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChatError {
    /// This build has no HTTP client.
    #[error("servers of language models cannot be reached by this build; build it with the feature `llm`")]
    NotCompiled,
    /// The address of the server is none.
    #[error("{url:?} is not the address of a server; {variable} wants one such as http://localhost:11434/v1")]
    Url {
        /// What was given.
        url: String,
        /// The environment variable that sets the address.
        variable: &'static str,
    },
    /// The API key could not be sent.
    #[error("the API key holds white space or another character that no key has; set {variable} again")]
    Key {
        /// The environment variable that sets the key.
        variable: &'static str,
    },
    /// The server wants a key, or another one.
    #[error("{url} refuses access ({status}: {message}); set {variable} to a key that is valid there")]
    Unauthorized {
        /// The address asked.
        url: String,
        /// HTTP status: 401 or 403.
        status: u16,
        /// The server's own words.
        message: String,
        /// The environment variable that sets the key.
        variable: &'static str,
    },
    /// The server lacks the model, or the address is wrong.
    #[error("{url} has no model {model:?} ({message}); check the model's name and the address in {variable}")]
    NotFound {
        /// The address asked.
        url: String,
        /// The model.
        model: String,
        /// The server's own words.
        message: String,
        /// The environment variable that sets the address.
        variable: &'static str,
    },
    /// The server does not take the request as it is.
    #[error("{url} rejects the request for the model {model:?} ({status}): {message}")]
    Rejected {
        /// The address asked.
        url: String,
        /// The model.
        model: String,
        /// HTTP status.
        status: u16,
        /// The server's own words.
        message: String,
    },
    /// The server is there but has too much to do, or is in trouble.
    #[error("{url} still answers {status} at attempt {attempts} ({message}); try again later or ask less often")]
    Unavailable {
        /// The address asked.
        url: String,
        /// The last HTTP status.
        status: u16,
        /// How often it was asked.
        attempts: u32,
        /// The server's own words.
        message: String,
    },
    /// The server could not be reached, or broke off.
    #[error("no answer from {url} in {attempts} attempts; check the address in {variable} and that the server runs")]
    Unreachable {
        /// The address asked.
        url: String,
        /// How often it was asked.
        attempts: u32,
        /// The environment variable that sets the address.
        variable: &'static str,
        /// What went wrong the last time.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server took the request and did not answer it in time.
    #[error("{url} did not finish its answer within {limit:?}; allow it more time or ask for fewer tokens")]
    Timeout {
        /// The address asked.
        url: String,
        /// The time it had.
        limit: Duration,
    },
    /// The answer does not end.
    #[error("{url} sends more than {limit} bytes, which is no chat reply; check the address in {variable}")]
    TooLong {
        /// The address asked.
        url: String,
        /// Bytes that are read at most.
        limit: u64,
        /// The environment variable that sets the address.
        variable: &'static str,
    },
    /// The answer is not what the API promises.
    #[error("{url} sends {problem} for a chat reply: {excerpt}; check the address in {variable}")]
    Malformed {
        /// The address asked.
        url: String,
        /// In which way.
        problem: &'static str,
        /// The beginning of the answer.
        excerpt: String,
        /// The environment variable that sets the address.
        variable: &'static str,
    },
    /// Waiting for the next attempt was broken off; see [`Retry::with_sleep`].
    #[error("interrupted while waiting to ask {url} again")]
    Interrupted {
        /// The address asked.
        url: String,
    },
    /// A [`ScriptedChat`] has no reply left.
    #[error("the script of {name:?} has no reply for request {request}; give it as many as there are requests")]
    ScriptEnded {
        /// Name of the scripted model.
        name: String,
        /// Which request it was, from 1.
        request: usize,
    },
    /// A model outside this crate failed.
    #[error("the language model failed")]
    Custom(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The APIs that chat servers speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChatApi {
    /// `POST {base}/chat/completions`: OpenAI, Ollama, vLLM, llama.cpp and most others.
    OpenAi,
    /// `POST {base}/v1/messages`: Anthropic.
    Anthropic,
}

impl ChatApi {
    const fn wire(self) -> &'static Wire {
        match self {
            Self::OpenAi => &openai::WIRE,
            Self::Anthropic => &anthropic::WIRE,
        }
    }
}

/// How the servers of one API want to be asked, and reply.
struct Wire {
    /// Where the API's maker serves it.
    base_url: &'static str,
    /// The environment variable that sets another place.
    url_variable: &'static str,
    /// The environment variable that holds the key.
    key_variable: &'static str,
    /// What follows the base address.
    path: &'static str,
    /// Headers of every request.
    headers: &'static [(&'static str, &'static str)],
    /// The header that holds the key, and what stands before the key in it.
    key_header: (&'static str, &'static str),
    /// The request for a model, in JSON.
    body: fn(model: &str, request: &ChatRequest<'_>, dialect: Dialect) -> Vec<u8>,
    /// The reply in a server's JSON, or what is wrong with it.
    reply: fn(answer: &Value) -> Result<ChatReply, &'static str>,
}

/// What a model was found not to take in the usual form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Dialect {
    /// The token limit is called `max_completion_tokens`: models that think.
    max_completion_tokens: bool,
    /// The temperature cannot be chosen.
    fixed_temperature: bool,
}

impl Dialect {
    /// Words of servers that do not know a parameter, as against those that dislike its value.
    const UNKNOWN: [&str; 7] =
        ["support", "deprecated", "unknown", "unrecogni", "unexpected", "not permitted", "not allowed"];

    /// The dialect to try after `error`; the same if the error is about something else.
    fn adapted_to(mut self, error: &ChatError) -> Self {
        if let ChatError::Rejected { status: 400 | 422, message, .. } = error {
            let message = message.to_ascii_lowercase();
            let unknown = Self::UNKNOWN.iter().any(|word| message.contains(word));
            if unknown && message.contains("max_tokens") && !self.max_completion_tokens {
                self.max_completion_tokens = true;
            } else if unknown && message.contains("temperature") {
                self.fixed_temperature = true;
            }
        }
        self
    }
}
