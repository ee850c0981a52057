//! The one way to chat servers: what to send, when to ask again, and what to say when it fails.
//!
//! A [`ChatEndpoint`] is plain data; [`ChatEndpoint::open`] makes the [`ChatClient`] that asks. Statuses that pass
//! (408, 409, 425, 429, 5xx) and failing connections are tried again as [`Retry`] says, an answer that is late or
//! makes no sense once more, and all else not at all. Proxies are those of the environment (`HTTPS_PROXY`,
//! `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`), except for servers on this machine. Redirects are not followed: the key
//! is for the address that was given.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, fmt, mem, thread};

use serde_json::Value;

use super::{ChatApi, ChatError, ChatModel, ChatReply, ChatRequest, Dialect};
use transport::Transport;

/// Bytes of an answer that are read at most.
const MAX_ANSWER: u64 = 10 << 20;
/// Characters of a server's words that an error repeats at most.
const MAX_EXCERPT: usize = 300;

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
    api: ChatApi,
    model: String,
    address: Address,
    key: Option<Key>,
    connect_timeout: Duration,
    timeout: Duration,
    retry: Retry,
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
        let transport = Transport::new(&self)?;
        let (max_completion_tokens, fixed_temperature) = Default::default();
        Ok(ChatClient { endpoint: self, transport, max_completion_tokens, fixed_temperature })
    }
}

/// An API key: not for anybody's eyes.
#[derive(Clone)]
struct Key(String);

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
struct Address {
    full: String,
    /// The address without credentials and query, for people.
    shown: String,
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

/// How often and after what waits a server is asked again.
///
/// The wait doubles from attempt to attempt. A server that names a time to wait (`Retry-After`) gets that in its
/// place, and no wait is longer than the longest.
#[derive(Clone)]
pub struct Retry {
    attempts: u32,
    first_wait: Duration,
    longest_wait: Duration,
    sleep: Arc<dyn Fn(Duration) -> bool + Send + Sync>,
}

impl Default for Retry {
    /// Four attempts; half a second before the second one; a minute at most before any.
    fn default() -> Self {
        let sleep = |wait| {
            thread::sleep(wait);
            true
        };
        Self {
            attempts: 4,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_mins(1),
            sleep: Arc::new(sleep),
        }
    }
}

impl Retry {
    /// The same with this many attempts in all; 0 counts as 1.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// The same with this wait before the second attempt.
    #[must_use]
    pub fn with_first_wait(mut self, wait: Duration) -> Self {
        self.first_wait = wait;
        self
    }

    /// The same with no wait longer than this, whatever a server asks for.
    #[must_use]
    pub fn with_longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// The same with another way to wait. `sleep` says whether to go on; if not, the request ends with
    /// [`ChatError::Interrupted`].
    #[must_use]
    pub fn with_sleep(mut self, sleep: impl Fn(Duration) -> bool + Send + Sync + 'static) -> Self {
        self.sleep = Arc::new(sleep);
        self
    }

    /// The wait after attempt number `attempt`, from 1.
    fn wait(&self, attempt: u32, asked_for: Option<Duration>) -> Duration {
        let doubled = || self.first_wait.saturating_mul(2_u32.saturating_pow(attempt - 1));
        asked_for.unwrap_or_else(doubled).min(self.longest_wait)
    }
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("attempts", &self.attempts)
            .field("first_wait", &self.first_wait)
            .field("longest_wait", &self.longest_wait)
            .finish_non_exhaustive()
    }
}

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

#[cfg(feature = "llm")]
mod transport {
    use std::net::IpAddr;
    use std::time::{Duration, SystemTime};

    use ureq::http::{HeaderMap, Uri, header};
    use ureq::{Agent, Error, Timeout};

    use super::{Answer, ChatEndpoint, ChatError, Failure, MAX_ANSWER};

    /// Connections to one server.
    #[derive(Debug)]
    pub(super) struct Transport {
        agent: Agent,
    }

    impl Transport {
        pub(super) fn new(endpoint: &ChatEndpoint) -> Result<Self, ChatError> {
            let address = endpoint.address.full.parse::<Uri>().ok();
            let address = address.filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
            let Some(host) = address.as_ref().and_then(Uri::host).filter(|host| !host.is_empty()) else {
                let variable = endpoint.api.wire().url_variable;
                return Err(ChatError::Url { url: endpoint.address.shown.clone(), variable });
            };
            let config = Agent::config_builder()
                .http_status_as_error(false)
                .max_redirects(0)
                .max_redirects_will_error(false)
                .timeout_connect(Some(endpoint.connect_timeout))
                .timeout_global(Some(endpoint.timeout))
                .user_agent(concat!("horchunk/", env!("CARGO_PKG_VERSION")));
            let config = if is_this_machine(host) { config.proxy(None) } else { config };
            Ok(Self { agent: config.build().into() })
        }

        pub(super) fn post(&self, url: &str, headers: &[(&str, String)], body: &[u8]) -> Result<Answer, Failure> {
            let request = self.agent.post(url).content_type("application/json");
            let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
            let mut response = request.send(body).map_err(failure)?;
            Ok(Answer {
                status: response.status().as_u16(),
                retry_after: retry_after(response.headers(), SystemTime::now()),
                body: response.body_mut().with_config().limit(MAX_ANSWER).read_to_vec().map_err(failure)?,
            })
        }
    }

    fn is_this_machine(host: &str) -> bool {
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    }

    /// The wait a server asks for: seconds, or the time when it ends.
    fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
        let value = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
        match value.parse() {
            Ok(seconds) => Some(Duration::from_secs(seconds)),
            Err(_) => Some(httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default()),
        }
    }

    fn failure(error: Error) -> Failure {
        match error {
            Error::Timeout(timeout) if !matches!(timeout, Timeout::Connect | Timeout::Resolve) => Failure::Timeout,
            Error::BodyExceedsLimit(_) => Failure::TooLong,
            error => Failure::Connection(error.into()),
        }
    }
}

#[cfg(not(feature = "llm"))]
mod transport {
    use super::{Answer, ChatEndpoint, ChatError, Failure};

    /// There is none in this build.
    #[derive(Debug)]
    pub(super) enum Transport {}

    impl Transport {
        pub(super) fn new(_endpoint: &ChatEndpoint) -> Result<Self, ChatError> {
            Err(ChatError::NotCompiled)
        }

        pub(super) fn post(&self, _url: &str, _headers: &[(&str, String)], _body: &[u8]) -> Result<Answer, Failure> {
            match *self {}
        }
    }
}
