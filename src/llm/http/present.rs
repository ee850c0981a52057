//! Requests through ureq.

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
