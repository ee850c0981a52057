//! The similarity curve beside a chunk, drawn without knowing a single pixel.
//!
//! The picture is stretched over the chunk's row, so only proportions matter: across, a similarity on the axis all
//! chunks of a document share; down, how far into the chunk a sentence starts, by lines of an ordinary width. Dots
//! are strokes of no length with round ends, which stay round however the picture is stretched.

use std::fmt::{self, Display};

use horchunk::{CutReason, Span, is_line_break};

/// Characters of a line of text on the page, about: enough to know how far down a sentence starts.
const LINE: usize = 68;

/// The axis across: up to 1, from a round value that leaves room on both sides of the threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    low: f32,
}

impl Axis {
    /// The axis on which all these similarities lie.
    pub(super) fn new(threshold: f32, similarities: impl Iterator<Item = f32>) -> Self {
        let low = similarities.fold(threshold - 0.2, f32::min);
        Self { low: ((low * 10.0).floor() / 10.0).clamp(-1.0, 0.9) }
    }

    pub(super) const fn low(self) -> f32 {
        self.low
    }

    /// Where a similarity lies, in thousandths of the width.
    pub(super) fn x(self, similarity: f32) -> f32 {
        ((similarity - self.low) / (1.0 - self.low) * 1000.0).clamp(0.0, 1000.0).round()
    }
}

/// Where the sentences of a chunk start, down its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    /// Lines of the text.
    pub(super) count: usize,
    /// Start of each sentence, in hundredths of the height.
    starts: Vec<usize>,
}

impl Lines {
    /// Lays `text`, which lies at byte `origin` of the source, out in lines, and finds where the sentences start.
    pub(super) fn new(text: &str, origin: usize, sentences: &[Span]) -> Self {
        let mut coming = sentences.iter().peekable();
        let mut starts = Vec::with_capacity(sentences.len());
        // Counts the columns of all lines; a line break fills up its line.
        let mut column = 0;
        for (byte, c) in text.char_indices() {
            while coming.next_if(|sentence| sentence.start() <= origin + byte).is_some() {
                starts.push(column);
            }
            column += if c == '\n' || (is_line_break(c) && c != '\r') { LINE - column % LINE } else { width(c) };
        }
        let count = column.div_ceil(LINE).max(1);
        let starts = starts.into_iter().map(|start| start * 100 / (count * LINE)).collect();
        Self { count, starts }
    }

    /// Where the sentence of this number starts; one behind the chunk starts at its end.
    fn y(&self, sentence: usize) -> usize {
        self.starts.get(sentence).copied().unwrap_or(100)
    }
}

/// Columns that a character takes, about.
const fn width(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3ffff}' => 2,
        _ => 1,
    }
}

/// The curve of one chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve<'a> {
    pub(super) axis: Axis,
    pub(super) threshold: f32,
    pub(super) lines: &'a Lines,
    /// Number of the first sentence that the chunk did not take over from the one before it.
    pub(super) anchor: usize,
    pub(super) steps: &'a [Option<f32>],
    pub(super) reason: CutReason,
}

impl Curve<'_> {
    /// Each step with its height: where the sentence it tried starts.
    fn steps(&self) -> impl Iterator<Item = (Option<f32>, usize)> {
        let sentences = self.anchor + 1..;
        self.steps.iter().copied().zip(sentences.map(|sentence| self.lines.y(sentence)))
    }

    /// The steps that have a similarity, as points of the picture.
    fn points(&self) -> impl Iterator<Item = (f32, usize)> {
        self.steps().filter_map(|(similarity, y)| Some((self.axis.x(similarity?), y)))
    }

    /// From 1 at the anchor through every step. Where small chunks were joined into this one, the curve falls off
    /// and starts again.
    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<path d=\"M1000 {}", self.lines.y(self.anchor))?;
        let mut broken = None;
        for (similarity, y) in self.steps() {
            if let Some(y) = broken.take() {
                write!(f, "M1000 {y}")?;
            }
            if let Some(similarity) = similarity {
                write!(f, " {} {y}", self.axis.x(similarity))?;
            }
            broken = similarity.is_none_or(|similarity| similarity < self.threshold).then_some(y);
        }
        f.write_str("\"/>")
    }

    /// Straight down to the end of the chunk, where something else than a similarity cuts it. A square end needs a
    /// direction, so this mark has a length of a thousandth.
    fn limit(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (x, y) = self.points().last().unwrap_or((1000.0, self.lines.y(self.anchor)));
        write!(f, "<path class=\"limit\" d=\"M{x} {y}V100\"/><path class=\"cut\" d=\"M{x} 100h1\"/>")
    }
}

fn dots(f: &mut fmt::Formatter<'_>, class: &str, dots: impl IntoIterator<Item = (f32, usize)>) -> fmt::Result {
    write!(f, "<path class=\"{class}\" d=\"")?;
    dots.into_iter().try_for_each(|(x, y)| write!(f, "M{x} {y}h0"))?;
    f.write_str("\"/>")
}

impl Display for Curve<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            return Ok(());
        }
        f.write_str("<svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" aria-hidden=\"true\">")?;
        self.line(f)?;
        let mut points: Vec<(f32, usize)> = self.points().collect();
        let last = if self.reason == CutReason::Similarity { points.pop() } else { None };
        if !points.is_empty() {
            dots(f, "dot", points)?;
        }
        if last.is_some() {
            dots(f, "cut", last)?;
        } else if self.reason != CutReason::End {
            self.limit(f)?;
        }
        f.write_str("</svg>")
    }
}
