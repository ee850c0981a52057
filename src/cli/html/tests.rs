use horchunk::{CutReason, Forced};
use proptest::prelude::*;

use super::curve::{Axis, Curve, Lines};
use super::*;

/// A record that says as little as possible, as a reader of records would get it.
fn record(index: usize, text: &str, span: Span) -> Record<'static> {
    serde_json::from_value(serde_json::json!({
        "document": "a.md", "id": format!("{index:032x}"), "index": index, "start": span.start(), "end": span.end(),
        "char_start": 0, "char_end": 0, "line_start": 1, "line_end": 1, "sentences": 1, "overlap_sentences": 0,
        "tokens": span.len(), "token_counter": "letters", "reason": "similarity", "similarity": 0.5, "forced": null,
        "truncated": false, "blind": false, "text": text.get(span.range()), "similarities": [0.5],
    }))
    .unwrap()
}

/// One chunk a word, each from the second on starting with the `overlap` words before it.
fn entries(text: &str, overlap: usize) -> Vec<Entry<'static>> {
    let mut words: Vec<Span> = Vec::new();
    let mut end = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        words.extend(Span::new(end, end + word.len()).trimmed(text));
        end += word.len();
    }
    let chunk = |index: usize| {
        let sentences = words[index.saturating_sub(overlap)..=index].to_vec();
        let mut record = record(index, text, sentences[0].to(words[index]));
        record.overlap_sentences = sentences.len() - 1;
        Entry { record, sentences }
    };
    (0..words.len()).map(chunk).collect()
}

fn page(documents: &[(&str, &str)], overlap: usize) -> String {
    let mut page = Page::new(Some(0.72), Some(6), vec![("model".to_owned(), "<none> & \"such\"".to_owned())]);
    for (name, text) in documents {
        page.add(name, text, &entries(text, overlap));
    }
    written(&page)
}

fn written(page: &Page) -> String {
    let mut out = Vec::new();
    page.write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Everything between each `open` and the `close` behind it.
fn between<'h>(html: &'h str, open: &str, close: &str) -> Vec<&'h str> {
    html.split(open).skip(1).map(|rest| rest.split_once(close).unwrap().0).collect()
}

fn without_tags(html: &str) -> String {
    let mut pieces = html.split('<');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once('>').unwrap().1)
}

fn decoded(html: &str) -> String {
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    entities.iter().fold(html.to_owned(), |text, (entity, character)| text.replace(entity, character))
}

/// The source as the rows of a page show it to whoever reads them from the first to the last.
fn shown(html: &str) -> String {
    let rows = between(html, "<p dir=\"auto\" lang=\"\">", "</p>");
    let mut text = String::new();
    for row in rows {
        let own = match row.split_once("<span class=\"overlap\">") {
            Some((before, rest)) => before.to_owned() + rest.split_once("</span>").unwrap().1,
            None => row.to_owned(),
        };
        text += &decoded(&without_tags(&own));
    }
    text
}

/// The plain version of what [`Escaped`] makes of a text, seen by the reader.
fn visible(text: &str) -> String {
    let sign = |c: char| match c {
        '\u{85}' | '\u{2028}' | '\u{2029}' => '\n',
        '\t' | '\n' => c,
        '\0'..' ' => char::from_u32(0x2400 + c as u32).unwrap(),
        '\u{7f}' => '␡',
        '\u{80}'..'\u{a0}' | '\u{fdd0}'..='\u{fdef}' => '\u{fffd}',
        c if c as u32 & 0xffff >= 0xfffe => '\u{fffd}',
        c => c,
    };
    text.replace("\r\n", "\n").replace('\r', "\n").chars().map(sign).collect()
}

/// Checks that every element is closed in its turn, and gives all opening tags.
fn tags(html: &str) -> Vec<&str> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    let mut rest = html;
    while let Some((_, behind)) = rest.split_once('<') {
        let (tag, behind) = behind.split_once('>').unwrap();
        rest = behind;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closes what is not open");
            continue;
        }
        all.push(tag);
        let name = tag.split([' ', '/']).next().unwrap();
        if !tag.ends_with('/') && !matches!(name, "!DOCTYPE" | "meta" | "link") {
            open.push(name);
        }
        if matches!(name, "style" | "script") {
            rest = &rest[rest.find("</").unwrap()..];
        }
    }
    assert_eq!(open, [""; 0], "left open");
    all
}

const HOSTILE: &str = "\u{feff} </script><script>alert('1')</script> \"a\" & 'b' <!-- ]]> &amp; &#0; \0\u{7}\u{1b}[0m \
    \u{80}\u{7f}\u{fffe}\u{fdd0} \u{202e}right\r\n\r\nleft\rx\u{85}y\u{2028}z </p></li></style> \u{a0}\u{a0} end\n\n";

#[test]
fn nothing_in_a_text_becomes_markup() {
    assert_eq!(Escaped("<a href=\"x\" b='&'>").to_string(), "&lt;a href=&quot;x&quot; b=&#39;&amp;&#39;&gt;");
    assert_eq!(Escaped("plain, Ünïcode 漢 🙂\ttab\n").to_string(), "plain, Ünïcode 漢 🙂\ttab\n");
    let html = page(&[("</title><script>", HOSTILE)], 0);
    assert_eq!(html.matches("<script").count(), 1);
    assert_eq!(html.matches("</script").count(), 1);
    assert_eq!(html.matches("</title").count(), 1);
}

#[test]
fn what_html_forbids_gets_a_visible_sign() {
    assert_eq!(Escaped("\0 \u{1b} \u{7f} \u{9b} \u{ffff}").to_string(), "␀ ␛ ␡ \u{fffd} \u{fffd}");
    let html = page(&[("\0.md", HOSTILE)], 1);
    assert!(!html.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')));
}

#[test]
fn every_element_is_closed_in_its_turn() {
    let html = page(&[("a.md", "One two.\n\nThree & four."), ("<b>", HOSTILE), ("empty", ""), ("blank", " \n\t")], 1);
    let tags = tags(&html);
    assert!(tags.iter().any(|tag| tag.starts_with("table")));
    assert!(tags.iter().filter(|tag| tag.starts_with("li id=")).count() > 4);
}

#[test]
fn element_ids_are_unique_and_every_link_has_its_target() {
    let html = page(&[("a.md", "one two three"), ("b.md", "one two")], 1);
    let mut ids = between(&html, " id=\"", "\"");
    let links = between(&html, "href=\"#", "\"");
    assert!(links.iter().all(|link| ids.contains(link)));
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), all), (7, 7));
}

#[test]
fn the_id_of_each_record_is_shown_once() {
    let html = page(&[("a.md", "one two three four")], 1);
    for index in 0..4 {
        assert_eq!(html.matches(&format!("{index:032x}")).count(), 1);
    }
}

#[test]
fn a_page_asks_for_nothing_outside_itself() {
    let html = page(&[("a.md", "one two"), ("b.md", "three")], 0);
    for word in ["http:", "https:", "src=", "url(", "@import", "fetch("] {
        assert!(!html.contains(word), "{word}");
    }
}

#[test]
fn a_page_without_documents_and_documents_without_chunks_are_pages() {
    assert!(page(&[], 0).contains("<h1 dir=\"auto\">0 documents</h1>"));
    assert!(page(&[("a.md", "")], 0).contains("The document is empty."));
    assert!(page(&[("a.md", " \n")], 0).contains("There is only white space here."));
}

#[test]
fn the_totals_are_those_of_all_documents() {
    let html = page(&[("a.md", "a bb"), ("b.md", "cccc dddddddd ee")], 0);
    let values = between(html.split("<section").next().unwrap(), "<dd>", "</dd>");
    assert_eq!(values, ["5", "5", "17", "1", "2", "8"]);
}

#[test]
fn every_reason_and_every_warning_is_said_in_words() {
    let text = "one two three four five six";
    let mut entries = entries(text, 0);
    let reasons = [CutReason::MaxSentences, CutReason::MaxTokens, CutReason::Border, CutReason::Similarity];
    for (entry, reason) in entries.iter_mut().zip(reasons) {
        entry.record.reason = reason;
    }
    entries[4].record.truncated = true;
    entries[4].record.blind = true;
    entries[4].record.forced = Some(Forced::Grapheme);
    entries[5].record.reason = CutReason::End;
    entries[5].record.overlap_sentences = 2;
    let mut page = Page::new(Some(0.72), Some(6), Vec::new());
    page.add("a.md", text, &entries);
    let html = written(&page);
    let notes = between(&html, "<b><i>cut: </i>", "</b>");
    for words in ["6 sentences", "token cap", "paragraph border", "similarity 0.500 &lt; 0.72"] {
        assert!(notes.contains(&words), "{words}");
    }
    let warnings = between(&html, "<em>", "</em>");
    let kinds: Vec<&str> = warnings.iter().map(|warning| warning.split_once(':').unwrap().0).collect();
    assert_eq!(kinds, ["forced", "blind", "truncated", "overlap"]);
    assert!(html.contains("<b>end of text</b>"));
}

#[test]
fn numbers_are_grouped_by_thousands() {
    let grouped = [0, 999, 1000, 1_024_007].map(|number| Grouped(number).to_string());
    assert_eq!(grouped, ["0", "999", "1,000", "1,024,007"]);
    assert_eq!([999, 48_995].map(|bytes| Bytes(bytes).to_string()), ["999\u{a0}B", "48.9\u{a0}kB"]);
}

#[test]
fn markup_takes_less_than_three_times_the_text() {
    let chunk = "Six sentences of ordinary length make a chunk, and this is what such a chunk weighs. ".repeat(4);
    let text = chunk.repeat(100);
    let entries: Vec<Entry<'_>> = (0..100)
        .map(|index| {
            let span = Span::new(index * chunk.len(), (index + 1) * chunk.len() - 1);
            let mut record = record(index, &text, span);
            record.similarities = Some(vec![Some(0.812_345), Some(0.754_321), Some(0.731_111), Some(0.641_237)]);
            Entry { record, sentences: vec![span] }
        })
        .collect();
    let mut page = Page::new(Some(0.72), Some(6), Vec::new());
    page.add("a.md", &text, &entries);
    assert!(page.documents[0].html.len() < 3 * text.len());
}

/// The curve of a chunk of two lines, each a sentence, at threshold 0.72 on an axis from 0.5.
fn curve(steps: &[Option<f32>], reason: CutReason) -> String {
    let text = "First line.\nSecond line.";
    let lines = Lines::new(text, 0, &[Span::new(0, 11), Span::new(12, 24)]);
    let axis = Axis::new(0.72, [0.6].into_iter());
    Curve { axis, threshold: 0.72, lines: &lines, anchor: 0, steps, reason }.to_string()
}

#[test]
fn a_curve_starts_at_one_and_falls_to_its_cut() {
    let svg = curve(&[Some(0.8), Some(0.6)], CutReason::Similarity);
    assert_eq!(
        between(&svg, "<path", "/>"),
        [" d=\"M1000 0 600 50 200 100\"", " class=\"dot\" d=\"M600 50h0\"", " class=\"cut\" d=\"M200 100h0\""]
    );
}

#[test]
fn a_cut_without_a_similarity_stands_at_the_end_of_the_chunk() {
    let svg = curve(&[Some(0.8), None], CutReason::MaxSentences);
    assert!(svg.contains("class=\"limit\" d=\"M600 50V100\"/><path class=\"cut\" d=\"M600 100h1\""));
    let svg = curve(&[None], CutReason::Border);
    assert!(svg.contains("class=\"limit\" d=\"M1000 0V100\""));
}

#[test]
fn a_curve_starts_again_where_small_chunks_were_joined() {
    let svg = curve(&[Some(0.6), Some(0.8)], CutReason::MaxTokens);
    assert!(svg.contains("<path d=\"M1000 0 200 50M1000 50 600 100\"/>"));
    assert_eq!(curve(&[], CutReason::End), "");
}

#[test]
fn an_axis_holds_every_similarity_and_the_threshold_inside() {
    assert_eq!(Axis::new(0.72, std::iter::empty()).low().to_string(), "0.5");
    assert_eq!(Axis::new(0.72, [0.13].into_iter()).low().to_string(), "0.1");
    for threshold in [-1.0, -0.3, 0.0, 1.0] {
        let axis = Axis::new(threshold, [-0.15, 1.0].into_iter());
        assert!([-1.0, threshold, 1.0].iter().all(|&value| (0.0..=1000.0).contains(&axis.x(value))));
        assert!(axis.x(threshold) < axis.x(1.0) || threshold >= 1.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_rows_hold_all_of_the_source_in_order_and_once(
        text in "([a-c<&>\"'\u{0}\u{1f}\u{85}\u{feff}\u{fffe}漢🙂\u{301}]{1,4}|[ \t\n\u{a0}\u{2028}]{1,3}|\r\n|\r){0,40}",
        overlap in 0_usize..3,
    ) {
        prop_assume!(!text.trim().is_empty());
        let html = page(&[("a.md", &text)], overlap);
        prop_assert_eq!(shown(&html), visible(&text));
        tags(&html);
    }
}
