//! The verifier on any records: it may find fault, it may not fail.
#![no_main]

use horchunk::{Record, Tiktoken, TiktokenEncoding, Verifier};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, Vec<(u16, u16, u16, &str)>)| {
    let (text, spans) = input;
    let record = |(index, (start, end, chars, words)): (usize, &(u16, u16, u16, &str))| {
        let json = serde_json::json!({
            "document": "d", "id": "", "index": index, "start": start, "end": end, "char_start": chars,
            "char_end": chars, "line_start": 1, "line_end": chars, "sentences": 1, "overlap_sentences": 0,
            "tokens": chars, "token_counter": "cl100k_base", "reason": "end", "similarity": null, "forced": null,
            "truncated": false, "blind": false, "text": words,
        });
        serde_json::from_value::<Record<'static>>(json).unwrap()
    };
    let records: Vec<_> = spans.iter().enumerate().map(record).collect();
    let counter = Tiktoken::new(TiktokenEncoding::Cl100kBase);
    for verifier in [Verifier::new(), Verifier::new().with_overlap(), Verifier::new().with_kept_white_space()] {
        verifier.with_max_tokens(3).check(text, &records, Some(&counter)).unwrap();
    }
});
