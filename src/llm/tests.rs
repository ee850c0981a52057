use std::sync::Arc;

use super::*;

const KEY: &str = "sk-very-secret";

#[test]
fn a_list_is_replied_in_order_and_ends_in_an_error() {
    let model = ScriptedChat::new(["one", "two"]).with_name("parrot");
    let replies: Vec<_> = (0..2).map(|_| model.chat(&ChatRequest::new("", "?")).unwrap().text).collect();
    assert_eq!(replies, ["one", "two"]);
    let error = model.chat(&ChatRequest::new("", "?")).unwrap_err();
    assert!(matches!(&error, ChatError::ScriptEnded { name, request: 3 } if name == "parrot"), "{error}");
}

#[test]
fn a_function_sees_the_request_and_may_fail() {
    let model = ScriptedChat::from_fn(|request| match request.max_tokens {
        0 => Err(ChatError::Custom("no room".into())),
        _ => Ok(ChatReply { truncated: true, ..request.user.to_uppercase().into() }),
    });
    let reply = model.chat(&ChatRequest::new("", "straße")).unwrap();
    assert_eq!((reply.text.as_str(), reply.truncated), ("STRASSE", true));
    assert!(matches!(model.chat(&ChatRequest::new("", "").with_max_tokens(0)), Err(ChatError::Custom(_))));
}

#[test]
fn a_script_keeps_every_request_as_it_was() {
    let model = ScriptedChat::new(["yes"]);
    let requests = [ChatRequest::new("be brief", "why?").with_temperature(0.5), ChatRequest::new("", "ß\u{0}")];
    let _ = requests.iter().map(|request| model.chat(request)).collect::<Vec<_>>();
    assert_eq!(model.requests(), requests);
}

#[test]
fn pointers_to_a_model_are_models() {
    fn ask(model: impl ChatModel) -> String {
        format!("{}: {}", model.name(), model.chat(&ChatRequest::new("", "?")).unwrap().text)
    }
    let model = Arc::new(ScriptedChat::new(["a", "b", "c"]));
    assert_eq!(ask(&model), "scripted: a");
    assert_eq!(ask(Box::new(model.clone()) as Box<dyn ChatModel>), "scripted: b");
    assert_eq!(ask(model as Arc<dyn ChatModel>), "scripted: c");
}

#[test]
fn debug_output_of_an_endpoint_holds_no_secret() {
    let endpoint = ChatEndpoint::new(ChatApi::OpenAi, "m")
        .with_key(Some(KEY.to_owned()))
        .with_base_url("http://user:password@host/v1?api-key=hush#hush");
    let debug = format!("{endpoint:?}");
    assert!(debug.contains("http://host/v1/chat/completions"), "{debug}");
    assert!(!["secret", "password", "hush"].iter().any(|secret| debug.contains(secret)), "{debug}");
}

#[cfg(not(feature = "llm"))]
#[test]
fn a_build_without_http_says_so() {
    let error = ChatEndpoint::new(ChatApi::OpenAi, "m").open().unwrap_err();
    assert!(matches!(error, ChatError::NotCompiled));
    assert!(error.to_string().contains("feature `llm`"));
}

#[cfg(feature = "llm")]
mod network {
    use std::collections::HashSet;
    use std::error::Error;
    use std::io::{self, BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::Mutex;
    use std::{iter, thread};

    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed};
    use serde_json::json;

    use super::*;
    use crate::cache::Cache;

    /// What the server does with one request.
    #[derive(Clone)]
    enum Step {
        /// Answers with status, more headers, and body.
        Answer(u16, String, Vec<u8>),
        /// Keeps the connection open and says nothing.
        Hang,
        /// Closes the connection without a word.
        Close,
        /// Promises more bytes than it sends.
        BreakOff,
    }

    fn answer(status: u16, body: impl Into<Vec<u8>>) -> Step {
        Step::Answer(status, String::new(), body.into())
    }

    fn answer_with(status: u16, header: &str) -> Step {
        Step::Answer(status, format!("{header}\r\n"), Vec::new())
    }

    fn yes() -> Step {
        let message = json!({"role": "assistant", "content": "Yes."});
        answer(200, json!({"choices": [{"message": message, "finish_reason": "stop"}]}).to_string())
    }

    /// The error that OpenAI's server sends.
    fn refuse(status: u16, message: &str) -> Step {
        answer(status, json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string())
    }

    /// A request as it arrived: head in lower case, body as JSON.
    #[derive(Clone)]
    struct Request {
        head: String,
        body: Value,
    }

    /// A chat server on loopback that takes one step a request, and the last one for ever.
    struct Server {
        url: String,
        requests: Arc<Mutex<Vec<Request>>>,
    }

    impl Server {
        fn start(steps: impl IntoIterator<Item = Step>) -> Self {
            let steps: Vec<_> = steps.into_iter().collect();
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("http://{}/v1", listener.local_addr().unwrap());
            let requests = Arc::new(Mutex::new(Vec::new()));
            let arrived = requests.clone();
            thread::spawn(move || {
                let mut held = Vec::new();
                for mut stream in listener.incoming().flatten() {
                    // Clients that give up are what some tests are about.
                    let Ok(request) = receive(&stream) else { continue };
                    let count = {
                        let mut arrived = arrived.lock().unwrap();
                        arrived.push(request);
                        arrived.len()
                    };
                    let _ = match &steps[count.min(steps.len()) - 1] {
                        Step::Answer(status, headers, body) => send(&mut stream, *status, headers, body, body.len()),
                        Step::BreakOff => send(&mut stream, 200, "", b"{\"choices\"", 1000),
                        Step::Close => Ok(()),
                        Step::Hang => {
                            held.push(stream);
                            Ok(())
                        }
                    };
                }
            });
            Self { url, requests }
        }

        fn requests(&self) -> Vec<Request> {
            self.requests.lock().unwrap().clone()
        }

        fn bodies(&self) -> Vec<Value> {
            self.requests().into_iter().map(|request| request.body).collect()
        }

        fn endpoint(&self) -> ChatEndpoint {
            ChatEndpoint::new(ChatApi::OpenAi, "tiny").with_base_url(&self.url)
        }

        /// Asks the server once; what came of it, and the waits on the way.
        fn ask(&self) -> (Result<ChatReply, ChatError>, Vec<f64>) {
            ask(self.endpoint().with_key(Some(KEY.to_owned())))
        }
    }

    fn receive(stream: &TcpStream) -> io::Result<Request> {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while reader.read_line(&mut head)? > 2 {}
        let head = head.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
        let mut body = vec![0; length.parse().unwrap()];
        reader.read_exact(&mut body)?;
        Ok(Request { head, body: serde_json::from_slice(&body)? })
    }

    fn send(stream: &mut TcpStream, status: u16, headers: &str, body: &[u8], length: usize) -> io::Result<()> {
        write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n")?;
        stream.write_all(body)
    }

    fn question() -> ChatRequest<'static> {
        ChatRequest::new("Be brief.", "Is sand „fein“?").with_max_tokens(64).with_temperature(0.25)
    }

    fn ask(endpoint: ChatEndpoint) -> (Result<ChatReply, ChatError>, Vec<f64>) {
        let waits = Arc::new(Mutex::new(Vec::new()));
        let kept = waits.clone();
        let retry = Retry::default().with_sleep(move |wait| {
            kept.lock().unwrap().push(wait.as_secs_f64());
            true
        });
        let reply = endpoint.with_retry(retry).open().unwrap().chat(&question());
        let waits = waits.lock().unwrap().clone();
        (reply, waits)
    }

    /// An error with all its causes, as people see it and as logs do.
    fn everything(error: &ChatError) -> String {
        let causes = iter::successors(Some(error as &dyn Error), |&error| error.source());
        causes.map(|error| format!("{error} {error:?} ")).collect()
    }

    #[test]
    fn openai_is_asked_in_its_way_and_understood() {
        let server = Server::start([answer(
            200,
            r#"{"id": "x", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes — sehr."},
                "finish_reason": "stop"}], "usage": {"prompt_tokens": 21, "completion_tokens": 4}}"#,
        )]);
        let (reply, waits) = server.ask();
        let expected = ChatReply { input_tokens: Some(21), output_tokens: Some(4), .."Yes — sehr.".into() };
        assert_eq!((reply.unwrap(), waits), (expected, vec![]));

        let request = &server.requests()[0];
        assert!(request.head.starts_with("post /v1/chat/completions http/1.1\r\n"), "{}", request.head);
        assert!(request.head.contains("\r\nauthorization: bearer sk-very-secret\r\n"));
        assert!(request.head.contains("\r\ncontent-type: application/json\r\n"));
        assert_eq!(
            request.body,
            json!({
                "model": "tiny",
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": "Is sand „fein“?"},
                ],
                "max_tokens": 64,
                "temperature": 0.25,
            })
        );
    }

    #[test]
    fn anthropic_is_asked_in_its_way_and_understood() {
        let server = Server::start([answer(
            200,
            r#"{"type": "message", "content": [{"type": "thinking", "thinking": "Hm.", "text": "no"},
                {"type": "text", "text": "Yes"}, {"type": "text", "text": "."}], "stop_reason": "end_turn",
                "usage": {"input_tokens": 12, "output_tokens": 3}}"#,
        )]);
        let endpoint = ChatEndpoint::new(ChatApi::Anthropic, "tiny").with_base_url(server.url.trim_end_matches("/v1"));
        let reply = ask(endpoint.with_key(Some(KEY.to_owned()))).0.unwrap();
        let expected = ChatReply { input_tokens: Some(12), output_tokens: Some(3), .."Yes.".into() };
        assert_eq!(reply, expected);

        let request = &server.requests()[0];
        assert!(request.head.starts_with("post /v1/messages http/1.1\r\n"), "{}", request.head);
        assert!(request.head.contains("\r\nx-api-key: sk-very-secret\r\n"));
        assert!(request.head.contains("\r\nanthropic-version: 2023-06-01\r\n"));
        assert!(!request.head.contains("authorization"));
        assert_eq!(
            request.body,
            json!({
                "model": "tiny",
                "system": "Be brief.",
                "messages": [{"role": "user", "content": "Is sand „fein“?"}],
                "max_tokens": 64,
                "temperature": 0.25,
            })
        );
    }

    #[test]
    fn without_a_system_prompt_none_is_sent() {
        let server = Server::start([yes()]);
        server.endpoint().open().unwrap().chat(&ChatRequest::new("", "?")).unwrap();
        assert_eq!(server.bodies()[0]["messages"], json!([{"role": "user", "content": "?"}]));
        let body = (anthropic::WIRE.body)("m", &ChatRequest::new("", "?"), Dialect::default());
        assert!(!String::from_utf8(body).unwrap().contains("system"));
    }

    #[test]
    fn without_a_key_no_header_holds_one() {
        for api in [ChatApi::OpenAi, ChatApi::Anthropic] {
            for key in [None, Some(" ".to_owned())] {
                let server = Server::start([yes()]);
                let _ = ask(ChatEndpoint::new(api, "tiny").with_base_url(&server.url).with_key(key));
                let head = &server.requests()[0].head;
                assert!(!head.contains("authorization") && !head.contains("x-api-key"), "{head}");
            }
        }
    }

    #[test]
    fn key_and_address_come_from_the_environment() {
        let server = Server::start([yes()]);
        let vars = [("OPENAI_API_KEY", format!(" {KEY}\n")), ("OPENAI_BASE_URL", format!("{}/", server.url))];
        let var = |name: &str| vars.iter().find(|var| var.0 == name).map(|var| var.1.clone());
        ask(ChatEndpoint::from_vars(ChatApi::OpenAi, "tiny", var)).0.unwrap();
        let head = &server.requests()[0].head;
        assert!(head.starts_with("post /v1/chat/completions ") && head.contains(": bearer sk-very-secret\r\n"));

        let of_empty = |api| format!("{:?}", ChatEndpoint::from_vars(api, "m", |_| Some(" ".to_owned())));
        assert!(of_empty(ChatApi::OpenAi).contains("\"https://api.openai.com/v1/chat/completions\", key: None"));
        assert!(of_empty(ChatApi::Anthropic).contains("\"https://api.anthropic.com/v1/messages\", key: None"));
    }

    #[test]
    fn a_query_of_the_base_address_stays_behind_the_path() {
        let server = Server::start([refuse(400, "no")]);
        let endpoint = server.endpoint().with_base_url(format!("{}/?api-version=1&code=hush", server.url));
        let error = ask(endpoint).0.unwrap_err();
        let head = &server.requests()[0].head;
        assert!(head.starts_with("post /v1/chat/completions?api-version=1&code=hush "), "{head}");
        assert!(!everything(&error).contains("hush"), "{error}");

        ask(server.endpoint().with_base_url(format!("{}#top", server.url))).0.unwrap_err();
        assert!(server.requests()[1].head.starts_with("post /v1/chat/completions "), "a fragment is never sent");
    }

    #[test]
    fn addresses_and_keys_that_cannot_be_sent_are_refused_at_once() {
        let open = |url: &str, key: &str| {
            ChatEndpoint::new(ChatApi::OpenAi, "m").with_base_url(url).with_key(Some(key.to_owned())).open()
        };
        for url in
            ["", "host", "ftp://host/v1", "http://", "file:///v1", "http://a b/", "u:hush@host", "http:/u:hush@h"]
        {
            let error = open(url, KEY).unwrap_err();
            assert!(matches!(error, ChatError::Url { .. }), "{url:?}: {error}");
            assert!(error.to_string().contains("OPENAI_BASE_URL") && !error.to_string().contains("hush"), "{error}");
        }
        for key in ["a b", "a\nb", "schlüssel", "\"quoted\""] {
            let error = open("http://localhost", key).unwrap_err();
            assert!(matches!(error, ChatError::Key { variable: "OPENAI_API_KEY" }), "{key:?}: {error}");
        }
    }

    #[test]
    fn a_refused_key_fails_at_once_and_names_the_variable() {
        for status in [401, 403] {
            let server = Server::start([refuse(status, "Who are you?")]);
            let (reply, waits) = server.ask();
            let error = reply.unwrap_err().to_string();
            assert!(error.contains(&format!("({status}: Who are you?); set OPENAI_API_KEY")), "{error}");
            assert_eq!((waits.len(), server.requests().len()), (0, 1));
        }
    }

    #[test]
    fn an_unknown_model_is_named_with_the_address() {
        let server = Server::start([answer(404, r#"{"error": "try pulling it first"}"#)]);
        let error = server.ask().0.unwrap_err().to_string();
        assert!(error.contains(&format!("{}/chat/completions has no model \"tiny\"", server.url)), "{error}");
        assert!(error.contains("(try pulling it first)"), "{error}");
        assert_eq!(server.requests().len(), 1);
    }

    #[test]
    fn other_refusals_give_the_servers_own_words_on_one_short_line() {
        let long = format!("bad\r\n\u{1b}[31m\u{7}request: {}", "ä".repeat(1000));
        for (step, words) in [
            (refuse(400, "max_tokens must be positive"), "(400): max_tokens must be positive"),
            (answer(422, r#"{"detail": "temperature must be small"}"#), "(422): temperature must be small"),
            (answer(422, r#"{"detail": [1]}"#), r#"(422): {"detail":[1]}"#),
            (answer(413, "<html>\ntoo large"), "(413): <html> too large"),
            (answer(418, ""), "(418): without a word"),
            (answer(400, b"\xff\xfe".as_slice()), "(400): \u{fffd}\u{fffd}"),
            (refuse(400, &long), "(400): bad [31m request: ää"),
        ] {
            let server = Server::start([step]);
            let error = server.ask().0.unwrap_err();
            let ChatError::Rejected { message, .. } = &error else { panic!("{error}") };
            assert!(error.to_string().contains(words), "{error}");
            assert!(message.chars().count() <= 300 && !message.contains(char::is_control), "{message}");
            assert_eq!(server.requests().len(), 1);
        }
    }

    #[test]
    fn a_redirect_is_not_followed() {
        let other = Server::start([yes()]);
        let server = Server::start([answer_with(307, &format!("Location: {}", other.url))]);
        assert!(matches!(server.ask().0, Err(ChatError::Rejected { status: 307, .. })));
        assert!(other.requests().is_empty(), "the key is not for that server");
    }

    #[test]
    fn a_busy_server_is_asked_again_when_it_says() {
        for (header, wait) in [
            ("Retry-After: 7", 7.0),
            ("Retry-After: 0", 0.0),
            ("Retry-After: 86400", 60.0),
            ("Retry-After: Sun, 06 Nov 1994 08:49:37 GMT", 0.0),
            ("Retry-After: Fri, 31 Dec 9999 23:59:59 GMT", 60.0),
            ("Retry-After: soon", 0.5),
            ("Retry-After: -1", 0.5),
            ("Retry-After: 99999999999999999999999", 0.5),
        ] {
            for status in [429, 503] {
                let server = Server::start([answer_with(status, header), yes()]);
                let (reply, waits) = server.ask();
                assert_eq!((reply.unwrap().text.as_str(), waits), ("Yes.", vec![wait]), "{header}");
            }
        }
    }

    #[test]
    fn a_server_that_stays_busy_is_asked_four_times() {
        let server = Server::start([refuse(429, "Slow down.")]);
        let (reply, waits) = server.ask();
        let error = reply.unwrap_err();
        assert!(matches!(error, ChatError::Unavailable { status: 429, attempts: 4, .. }), "{error}");
        assert!(error.to_string().contains("Slow down."), "{error}");
        assert_eq!((server.requests().len(), waits), (4, vec![0.5, 1.0, 2.0]));
    }

    #[test]
    fn attempts_and_waits_are_those_of_the_policy() {
        for (attempts, expected) in [(0, 1), (1, 1), (6, 6)] {
            let server = Server::start([answer(500, "")]);
            let waits = Arc::new(Mutex::new(Vec::new()));
            let kept = waits.clone();
            let retry = Retry::default()
                .with_attempts(attempts)
                .with_first_wait(Duration::from_secs(1))
                .with_longest_wait(Duration::from_secs(5))
                .with_sleep(move |wait| {
                    kept.lock().unwrap().push(wait.as_secs());
                    true
                });
            server.endpoint().with_retry(retry).open().unwrap().chat(&question()).unwrap_err();
            assert_eq!(server.requests().len(), expected);
            assert_eq!(*waits.lock().unwrap(), [1, 2, 4, 5, 5][..expected - 1]);
        }
    }

    #[test]
    fn troubles_that_pass_are_waited_out() {
        let statuses = [408, 409, 425, 500, 502, 504, 529].map(|status| answer(status, ""));
        for trouble in statuses.into_iter().chain([Step::Close, Step::BreakOff]) {
            let server = Server::start([trouble.clone(), trouble, yes()]);
            let (reply, waits) = server.ask();
            assert_eq!((reply.unwrap().text.as_str(), waits), ("Yes.", vec![0.5, 1.0]));
        }
    }

    #[test]
    fn a_server_that_is_not_there_is_tried_four_times() {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let url = format!("http://user:hush@{address}/v1");
        let (reply, waits) = ask(ChatEndpoint::new(ChatApi::OpenAi, "m").with_base_url(url));
        let error = reply.unwrap_err();
        assert!(matches!(error, ChatError::Unreachable { attempts: 4, .. }), "{error}");
        assert!(error.to_string().contains(&format!("http://{address}/v1")), "{error}");
        assert!(!everything(&error).contains("hush"));
        assert_eq!(waits, [0.5, 1.0, 2.0]);
    }

    #[test]
    fn a_server_that_never_answers_is_given_up_after_two_attempts() {
        let server = Server::start([Step::Hang]);
        let (reply, waits) = ask(server.endpoint().with_timeout(Duration::from_millis(50)));
        let error = reply.unwrap_err();
        assert!(matches!(error, ChatError::Timeout { .. }), "{error}");
        assert!(error.to_string().contains("within 50ms"), "{error}");
        assert_eq!(waits, [0.5]);
    }

    #[test]
    fn waiting_can_be_interrupted() {
        let server = Server::start([answer(500, "")]);
        let retry = Retry::default().with_sleep(|_| false);
        let error = server.endpoint().with_retry(retry).open().unwrap().chat(&question()).unwrap_err();
        assert!(matches!(error, ChatError::Interrupted { .. }), "{error}");
        assert_eq!(server.requests().len(), 1);
    }

    #[test]
    fn an_answer_that_makes_no_sense_is_asked_for_once_more() {
        for (body, problem) in [
            ("", "nothing"),
            (" \n", "nothing"),
            ("<html>504</html>", "something other than JSON"),
            ("data: {}", "something other than JSON"),
            ("{\"choices\": [", "something other than JSON"),
            ("null", "JSON without choices"),
            (r#"{"error": "model crashed"}"#, "JSON without choices for a chat reply: model crashed"),
            (r#"{"choices": []}"#, "JSON without choices"),
            (r#"{"choices": [7]}"#, "a choice without a message"),
            (r#"{"choices": [{"message": {"content": 5}}]}"#, "a message without content"),
        ] {
            let server = Server::start([answer(200, body), yes()]);
            assert_eq!(server.ask().0.unwrap().text, "Yes.", "{body}");

            let server = Server::start([answer(200, body)]);
            let (reply, waits) = server.ask();
            let error = reply.unwrap_err();
            assert!(matches!(error, ChatError::Malformed { .. }), "{error}");
            assert!(error.to_string().contains(problem), "{error}");
            assert_eq!((server.requests().len(), waits), (2, vec![0.5]));
        }
    }

    #[test]
    fn an_answer_without_end_is_not_read_to_the_end() {
        let server = Server::start([answer(200, vec![b' '; (10 << 20) + 1])]);
        let (reply, waits) = server.ask();
        assert!(matches!(reply, Err(ChatError::TooLong { limit: 10_485_760, .. })));
        assert!(waits.is_empty());
    }

    #[test]
    fn the_key_is_in_no_error_even_if_the_server_repeats_it() {
        let echo = format!("the key {KEY} (Bearer {KEY}) is bad");
        let mut steps: Vec<_> = [400, 401, 403, 404, 418, 429, 500].map(|status| refuse(status, &echo)).into();
        steps.push(answer(400, format!("{}{KEY}", "x".repeat(290))));
        steps.push(answer(400, json!({"error": {"message": "no", "param": KEY}}).to_string()));
        steps.push(answer(200, echo.clone()));
        steps.push(answer(200, json!({ "echo": echo }).to_string()));
        for step in steps {
            let server = Server::start([step]);
            let error = everything(&server.ask().0.unwrap_err());
            assert!(!error.contains("sk-very"), "{error}");
            assert!(error.contains("[key]"), "{error}");
        }
    }

    #[test]
    fn the_key_is_not_in_the_debug_output_of_a_client() {
        let server = Server::start([yes()]);
        let client = server.endpoint().with_key(Some(KEY.to_owned())).open().unwrap();
        client.chat(&question()).unwrap();
        assert!(!format!("{client:?}").contains("secret"));
    }

    const NO_MAX_TOKENS: &str = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
    const NO_TEMPERATURE: &str = "Unsupported value: 'temperature' does not support 0.25 with this model.";

    #[test]
    fn parameters_a_model_does_not_know_are_changed_and_stay_so() {
        let server =
            Server::start([refuse(400, NO_MAX_TOKENS), refuse(400, NO_TEMPERATURE), yes(), yes(), answer(500, "")]);
        let client = server.endpoint().open().unwrap();
        client.chat(&question()).unwrap();
        client.chat(&question()).unwrap();
        let parameters = |body: &Value| {
            ["max_tokens", "max_completion_tokens", "temperature"].map(|name| body.get(name).and_then(Value::as_f64))
        };
        let adapted = [None, Some(64.0), None];
        assert_eq!(
            server.bodies().iter().map(parameters).collect::<Vec<_>>(),
            [[Some(64.0), None, Some(0.25)], [None, Some(64.0), Some(0.25)], adapted, adapted]
        );
    }

    #[test]
    fn the_parameter_may_be_named_beside_the_message() {
        let error = json!({"error": {"message": "Not supported with this model.", "param": "temperature"}});
        let server = Server::start([answer(400, error.to_string()), yes()]);
        server.ask().0.unwrap();
        assert_eq!(server.bodies()[1].get("temperature"), None);
    }

    #[test]
    fn a_model_that_takes_no_form_is_refused_after_three_and_nothing_is_remembered() {
        let server = Server::start([refuse(400, &format!("{NO_MAX_TOKENS} {NO_TEMPERATURE}"))]);
        let client = server.endpoint().open().unwrap();
        for _ in 0..2 {
            assert!(matches!(client.chat(&question()), Err(ChatError::Rejected { status: 400, .. })));
        }
        let bodies = server.bodies();
        assert_eq!(bodies.len(), 6);
        assert_eq!(bodies[3], bodies[0]);
    }

    #[test]
    fn a_parameter_whose_value_is_wrong_is_not_changed() {
        for message in ["'temperature' must be at most 2, got 5", "max_tokens is too large: 64"] {
            let server = Server::start([refuse(400, message)]);
            assert!(matches!(server.ask().0, Err(ChatError::Rejected { .. })));
            assert_eq!(server.requests().len(), 1);
        }
    }

    #[test]
    fn anthropic_is_asked_again_without_temperature_but_its_token_limit_has_one_name() {
        let server =
            Server::start([refuse(400, "`temperature` is deprecated for this model."), refuse(400, NO_MAX_TOKENS)]);
        let endpoint = ChatEndpoint::new(ChatApi::Anthropic, "tiny").with_base_url(&server.url);
        assert!(matches!(ask(endpoint).0, Err(ChatError::Rejected { .. })));
        let bodies = server.bodies();
        assert_eq!((bodies.len(), bodies[1].get("temperature"), &bodies[1]["max_tokens"]), (2, None, &json!(64)));
    }

    #[test]
    fn a_reply_that_hits_the_token_limit_says_so() {
        let openai = |message: Value| {
            let answer = json!({"choices": [{"message": message, "finish_reason": "length"}], "usage": null});
            (openai::WIRE.reply)(&answer).unwrap()
        };
        let cut = |text: &str| ChatReply { truncated: true, ..text.into() };
        assert_eq!(openai(json!({"content": "Yes, bec"})), cut("Yes, bec"));
        assert_eq!(openai(json!({"content": null, "reasoning_content": "Hm"})), cut(""), "all tokens were thoughts");
        for reason in ["max_tokens", "model_context_window_exceeded"] {
            let answer = json!({"content": [{"type": "text", "text": "Yes, bec"}], "stop_reason": reason});
            assert_eq!((anthropic::WIRE.reply)(&answer).unwrap(), cut("Yes, bec"));
        }
    }

    #[test]
    fn content_in_parts_and_refusals_are_replies() {
        let reply = |message: Value| (openai::WIRE.reply)(&json!({"choices": [{ "message": message }]}));
        assert_eq!(reply(json!({"content": [{"text": "a"}, {"image": 1}, {"text": "b"}]})), Ok("ab".into()));
        assert_eq!(reply(json!({"content": null, "refusal": "I will not."})), Ok("I will not.".into()));
        assert_eq!(reply(json!({"content": ""})), Ok("".into()));
    }

    #[test]
    fn usage_that_is_missing_or_strange_is_no_error() {
        for usage in [json!(null), json!({}), json!({"prompt_tokens": -1, "completion_tokens": "4"}), json!([])] {
            let answer = json!({"choices": [{"message": {"content": "a"}}], "usage": usage});
            assert_eq!((openai::WIRE.reply)(&answer), Ok("a".into()));
        }
    }

    #[test]
    fn what_was_asked_before_is_replied_to_from_the_cache() {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start([yes(), refuse(400, "no"), yes(), yes(), yes()]);
        let open = || server.endpoint().with_cache(Arc::new(Cache::new(folder.path()))).open().unwrap();
        let request = question().with_temperature(0.0);
        let first = open().chat(&request).unwrap();
        let again = open().chat(&request).unwrap();
        assert!(!first.cached && again.cached);
        assert_eq!(again, ChatReply { cached: true, ..first.clone() });
        assert_eq!(server.requests().len(), 1);

        // A refusal is not remembered.
        let other = ChatRequest::new("Be brief.", "Is sand dry?");
        assert!(open().chat(&other).is_err());
        assert!(!open().chat(&other).unwrap().cached);
        // Who wants variety gets it.
        assert!(!open().chat(&question()).unwrap().cached);
        assert!(!open().chat(&question()).unwrap().cached);
        assert_eq!(server.requests().len(), 5);
    }

    #[test]
    fn every_setting_that_changes_a_reply_changes_its_key() {
        let base = ChatEndpoint::new(ChatApi::OpenAi, "tiny").with_base_url("http://localhost:1/v1");
        let request = question();
        let own = cached::key(&base, &request);
        let endpoints = [
            ChatEndpoint::new(ChatApi::OpenAi, "tiny2").with_base_url("http://localhost:1/v1"),
            ChatEndpoint::new(ChatApi::Anthropic, "tiny").with_base_url("http://localhost:1/v1"),
            base.clone().with_base_url("http://localhost:2/v1"),
            base.clone().with_base_url("http://localhost:1/v1?version=2"),
        ];
        let mut keys: Vec<_> = endpoints.iter().map(|endpoint| cached::key(endpoint, &request)).collect();
        let requests = [
            ChatRequest { system: "Be long.".into(), ..question() },
            ChatRequest { user: "Is sand fine?".into(), ..question() },
            question().with_max_tokens(65),
            question().with_temperature(0.0),
        ];
        keys.extend(requests.iter().map(|request| cached::key(&base, request)));
        keys.push(own.clone());
        let number = keys.len();
        assert_eq!(keys.into_iter().collect::<HashSet<_>>().len(), number);

        let patient = base.with_key(Some(KEY.to_owned())).with_timeout(Duration::from_secs(1));
        assert_eq!(cached::key(&patient, &request), own);
    }

    proptest! {
        #![proptest_config(Config { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..Config::with_cases(99) })]

        #[test]
        fn no_body_panics_or_shows_the_key(
            api in prop::sample::select(vec![ChatApi::OpenAi, ChatApi::Anthropic]),
            noise in prop::collection::vec(any::<u8>(), 0..600),
            text in "\\PC{0,400}",
            cut in any::<prop::sample::Index>(),
        ) {
            let client = ChatEndpoint::new(api, "m").with_key(Some(KEY.to_owned())).open().unwrap();
            let good = json!({
                "choices": [{"message": {"content": text}}],
                "content": [{"type": "text", "text": text}],
            }).to_string().into_bytes();
            prop_assert_eq!(client.read(&good).unwrap().text, text.clone());
            let part = &good[..cut.index(good.len())];
            let echo = format!("{text}{KEY}{text}").into_bytes();
            for body in [noise.as_slice(), part, &[part, &noise].concat(), &[&echo, noise.as_slice()].concat()] {
                if let Err(ChatError::Malformed { excerpt, .. }) = client.read(body) {
                    prop_assert!(excerpt.chars().count() <= 300 && !excerpt.contains(KEY), "{}", excerpt);
                    prop_assert!(!excerpt.contains(char::is_control), "{}", excerpt);
                }
            }
        }
    }
}
