//! Every splitter on any text: spans in order, trimmed, white space only between them.
#![no_main]

use horchunk::{
    ParagraphSplitter, RuleSplitter, SentenceSplitter, Tiktoken, TiktokenEncoding, TokenSplitter, UnicodeSplitter,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let tokens = TokenSplitter::new(Tiktoken::new(TiktokenEncoding::Cl100kBase), 8).unwrap();
    let splitters: [&dyn SentenceSplitter; 4] =
        [&ParagraphSplitter, &RuleSplitter, &UnicodeSplitter::default(), &tokens];
    for splitter in splitters {
        let mut end = 0;
        for span in splitter.split(text).unwrap() {
            let words = &text[span.range()];
            assert!(!words.is_empty() && words.trim() == words);
            assert!(text[end..span.start()].chars().all(char::is_whitespace));
            end = span.end();
        }
        assert!(text[end..].chars().all(char::is_whitespace));
    }
});
