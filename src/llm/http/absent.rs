//! No requests: what stands in for the network in a build without the feature `llm`.

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
