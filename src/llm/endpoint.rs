//! Which model to ask, and where: plain data, from the environment or from words.

use std::sync::Arc;
use std::time::Duration;
use std::{env, fmt};

use super::http::ChatClient;
use super::retry::Retry;
use super::{ChatApi, ChatError};
use crate::cache::Cache;

/// Which model to ask, where, and with what patience.
///
/// ```no_run
/// use horchunk::llm::{ChatApi, ChatEndpoint, ChatModel, ChatRequest};
///
/// // A model of a server on this machine, such as Ollama's.
/// let endpoint = ChatEndpoint::new(ChatApi::OpenAi, "llama3.2").with_base_url("http://localhost:11434/v1");
/// let reply = endpoint.open()?.chat(&ChatRequest::new("Answer with one word.", "What carries sand?"))?;
/// println!("{}", reply.text);
///
/// // A model of Anthropic, with the key from ANTHROPIC_API_KEY.
/// let model = ChatEndpoint::from_env(ChatApi::Anthropic, "claude-haiku-4-5").open()?;
/// # Ok::<(), horchunk::llm::ChatError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ChatEndpoint {
    pub(super) api: ChatApi,
    pub(super) model: String,
    pub(super) address: Address,
    pub(super) key: Option<Key>,
    pub(super) connect_timeout: Duration,
    pub(super) timeout: Duration,
    pub(super) retry: Retry,
    pub(super) cache: Option<Arc<Cache>>,
}

impl ChatEndpoint {
    /// The model at the API's maker, without a key, whatever the environment says.
    #[must_use]
    pub fn new(api: ChatApi, model: impl Into<String>) -> Self {
        Self {
            api,
            model: model.into(),
            address: Address::new(api.wire().base_url, api.wire().path),
            key: None,
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_mins(5),
            retry: Retry::default(),
            cache: None,
        }
    }

    /// The model with key and base address from the environment: `OPENAI_API_KEY` and `OPENAI_BASE_URL`, or
    /// `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL`. A variable that is empty counts as not set.
    #[must_use]
    pub fn from_env(api: ChatApi, model: impl Into<String>) -> Self {
        Self::from_vars(api, model, |name| env::var(name).ok())
    }

    /// [`ChatEndpoint::from_env`] with the environment as an argument.
    pub(super) fn from_vars(api: ChatApi, model: impl Into<String>, var: impl Fn(&str) -> Option<String>) -> Self {
        let var = |name| var(name).filter(|value| !value.trim().is_empty());
        let endpoint = Self::new(api, model).with_key(var(api.wire().key_variable));
        match var(api.wire().url_variable) {
            Some(url) => endpoint.with_base_url(url),
            None => endpoint,
        }
    }

    /// The same at this base address: what stands before `/chat/completions` or `/v1/messages`. A query stays behind.
    #[must_use]
    pub fn with_base_url(mut self, url: impl AsRef<str>) -> Self {
        self.address = Address::new(url.as_ref().trim(), self.api.wire().path);
        self
    }

    /// The same with this API key, or none.
    #[must_use]
    pub fn with_key(mut self, key: Option<String>) -> Self {
        self.key = key.map(|key| Key(key.trim().to_owned())).filter(|key| !key.0.is_empty());
        self
    }

    /// The same with this much time for a connection; 10 seconds if nothing is said.
    #[must_use]
    pub const fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// The same with this much time for an answer, connection included; 5 minutes if nothing is said.
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The same with this way to ask again.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// The same with replies remembered, by model, address and everything that a request holds: what was asked before is
    /// replied to from there ([`ChatReply::cached`](super::ChatReply::cached)). Who asks at a temperature above 0 wants
    /// variety and always asks the server.
    #[must_use]
    pub fn with_cache(mut self, cache: Arc<Cache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// A client for the model. Nothing is sent before the first question.
    ///
    /// # Errors
    ///
    /// [`ChatError::Url`] and [`ChatError::Key`] for what cannot be sent, [`ChatError::NotCompiled`] in a build
    /// without the feature `llm`.
    pub fn open(self) -> Result<ChatClient, ChatError> {
        if self.key.as_ref().is_some_and(|key| !key.is_plain()) {
            return Err(ChatError::Key { variable: self.api.wire().key_variable });
        }
        ChatClient::new(self)
    }
}

/// An API key: not for anybody's eyes.
#[derive(Clone)]
pub(super) struct Key(pub(super) String);

impl Key {
    /// Whether it is what keys are: no white space, and nothing that JSON would write in another way.
    fn is_plain(&self) -> bool {
        self.0.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hidden")
    }
}

/// Where requests go.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) full: String,
    /// The address without credentials and query, for people.
    pub(super) shown: String,
}

impl Address {
    fn new(base: &str, path: &str) -> Self {
        // A password may hold any of the marks that part an address, so it goes before they are looked for.
        let shown = without_credentials(base);
        let shown = shown.split(['#', '?']).next().unwrap_or_default().trim_end_matches('/');
        let shown = format!("{shown}{path}");
        let base = base.split_once('#').map_or(base, |(base, _fragment)| base);
        let (base, query) = base.split_at(base.find('?').unwrap_or(base.len()));
        let base = base.trim_end_matches('/');
        Self { full: format!("{base}{path}{query}"), shown }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.shown, f)
    }
}

/// An address without what stands in front of its last `@`, which may be `user:password`.
fn without_credentials(url: &str) -> String {
    let host_of = |text: &str| text.rsplit_once('@').map_or(text, |(_, host)| host).to_owned();
    match url.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", host_of(rest)),
        None => host_of(url),
    }
}
