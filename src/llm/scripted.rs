//! A model that replies from a script: for tests, and wherever no server is at hand.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::{ChatError, ChatModel, ChatReply, ChatRequest};

type Script = dyn Fn(&ChatRequest<'_>) -> Option<Result<ChatReply, ChatError>> + Send + Sync;

/// Replies from a list or by a function, and keeps every request.
///
/// ```
/// use horchunk::llm::{ChatModel, ChatRequest, ScriptedChat};
///
/// let model = ScriptedChat::new(["Rivers.", "Wind."]);
/// assert_eq!(model.chat(&ChatRequest::new("", "What carries sand?"))?.text, "Rivers.");
/// assert_eq!(model.chat(&ChatRequest::new("", "What else?"))?.text, "Wind.");
/// assert_eq!(model.requests()[1].user, "What else?");
///
/// let echo = ScriptedChat::from_fn(|request| Ok(request.user.to_uppercase().into()));
/// assert_eq!(echo.chat(&ChatRequest::new("", "sand"))?.text, "SAND");
/// # Ok::<(), horchunk::llm::ChatError>(())
/// ```
pub struct ScriptedChat {
    name: String,
    script: Box<Script>,
    requests: Mutex<Vec<ChatRequest<'static>>>,
}

impl ScriptedChat {
    /// Gives these replies in their order, and after the last one [`ChatError::ScriptEnded`].
    #[must_use]
    pub fn new<R: Into<ChatReply>>(replies: impl IntoIterator<Item = R>) -> Self {
        let replies: Vec<ChatReply> = replies.into_iter().map(Into::into).collect();
        let replies = Mutex::new(replies.into_iter());
        Self::from_script(move |_| replies.lock().unwrap_or_else(PoisonError::into_inner).next().map(Ok))
    }

    /// Replies what `script` makes of each request.
    #[must_use]
    pub fn from_fn(script: impl Fn(&ChatRequest<'_>) -> Result<ChatReply, ChatError> + Send + Sync + 'static) -> Self {
        Self::from_script(move |request| Some(script(request)))
    }

    fn from_script(
        script: impl Fn(&ChatRequest<'_>) -> Option<Result<ChatReply, ChatError>> + Send + Sync + 'static,
    ) -> Self {
        Self { name: "scripted".to_owned(), script: Box::new(script), requests: Mutex::default() }
    }

    /// The same under this name; `scripted` if none is given.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// All requests so far, in the order of their arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<ChatRequest<'static>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ChatModel for ScriptedChat {
    fn name(&self) -> &str {
        &self.name
    }

    fn chat(&self, request: &ChatRequest<'_>) -> Result<ChatReply, ChatError> {
        let count = {
            let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
            requests.push(request.clone().into_owned());
            requests.len()
        };
        (self.script)(request)
            .unwrap_or_else(|| Err(ChatError::ScriptEnded { name: self.name.clone(), request: count }))
    }
}

impl fmt::Debug for ScriptedChat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedChat").field("name", &self.name).finish_non_exhaustive()
    }
}
