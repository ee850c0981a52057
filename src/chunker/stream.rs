//! A text that comes part by part, cut as far as nothing to come can change a cut.
//!
//! Where a chunk ends depends on where it starts, on its units and on the one that it does not take; sentences before a
//! blank line do not depend on those behind it ([`SentenceSplitter::safe_cut`]). So a chunk is final as soon as the unit
//! behind it is not the last one known, and what is held is the text from the first chunk that is not.

use std::fmt;
use std::mem;

use super::units::{Borders, Unit, Units};
use super::window::Rules;
use super::{Chunk, ChunkError, Chunks};
use crate::sentence::SentenceSplitter;
use crate::span::Position;
use crate::tokens::FitError;

/// Cuts a text that comes part by part; see [`WindowChunker::stream`](super::WindowChunker::stream).
///
/// The chunks are those of the whole text, with places in the whole text. It holds no more than the parts since the
/// last chunk that was handed out, and since the last place where the splitter lets a text be divided: for
/// [`UnicodeSplitter`](crate::UnicodeSplitter) a blank line outside of code. Where chunks overlap or have a least size,
/// and with splitters that must see a text as a whole, it holds all of it until [`Self::finish`].
///
/// ```
/// use horchunk::{ChunkError, Chunker, SentenceTransformer, WindowChunker};
///
/// let model = SentenceTransformer::bundled()?;
/// let chunker = WindowChunker::new(&model);
/// let parts = ["Cats sleep most of", " the day.\n\nThe tax form is due in May.\n\nIt has ", "four pages."];
/// let whole = parts.concat();
/// let mut ends = Vec::new();
/// let mut stream = chunker.stream();
/// for part in parts {
///     stream.push(part, |chunk| {
///         ends.push(chunk.span.end());
///         Ok::<(), ChunkError>(())
///     })?;
/// }
/// stream.finish(|chunk| {
///     ends.push(chunk.span.end());
///     Ok::<(), ChunkError>(())
/// })?;
/// assert_eq!(ends, chunker.chunk(&whole)?.iter().map(|chunk| chunk.span.end()).collect::<Vec<_>>());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ChunkStream<'c> {
    rules: Rules<'c>,
    splitter: &'c dyn SentenceSplitter,
    borders: Borders,
    /// The text from the first chunk that is not handed out.
    text: String,
    /// Where it begins in the whole.
    byte: usize,
    position: Position,
    /// The units of the text before byte `split`.
    units: Vec<Unit>,
    split: usize,
    /// Bytes of text from which on it is worth while to ask the splitter again.
    ask_at: usize,
}

impl<'c> ChunkStream<'c> {
    /// Bytes up to which the splitter is asked with every part. Beyond, the time for a text without any place to divide
    /// it must not grow with the square of its length.
    const OFTEN: usize = 1 << 14;

    pub(super) fn new(rules: Rules<'c>, splitter: &'c dyn SentenceSplitter, borders: Borders) -> Self {
        Self {
            rules,
            splitter,
            borders,
            text: String::new(),
            byte: 0,
            position: Position { chars: 0, line: 1 },
            units: Vec::new(),
            split: 0,
            ask_at: 0,
        }
    }

    /// Bytes of text that are held: what came since the first chunk that was not handed out.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.text.len()
    }

    /// Takes the next part of the text and hands out the chunks that are final now.
    ///
    /// # Errors
    ///
    /// Where sentences, tokens or vectors cannot be had, and those of `each`. Nothing can be pushed usefully after one.
    pub fn push<E: From<ChunkError>>(
        &mut self,
        part: &str,
        each: impl FnMut(Chunk<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.text.push_str(part);
        // Overlap reaches back over chunks that are gone, a least size changes chunks that seem final.
        let waits = self.rules.overlap_sentences > 0 || self.rules.min_tokens > 0;
        if waits || self.text.len() < self.ask_at {
            return Ok(());
        }
        match self.splitter.safe_cut(&self.text[self.split..]) {
            Some(cut) if cut > 0 => self.advance(self.split + cut, false, each),
            _ => {
                let waiting = self.text.len() - self.split;
                self.ask_at = self.split + if waiting > Self::OFTEN { 2 * waiting } else { 0 };
                Ok(())
            }
        }
    }

    /// Hands out the chunks that are left: the text has ended.
    ///
    /// # Errors
    ///
    /// As [`Self::push`].
    pub fn finish<E: From<ChunkError>>(mut self, each: impl FnMut(Chunk<'_>) -> Result<(), E>) -> Result<(), E> {
        self.advance(self.text.len(), true, each)
    }

    /// Cuts the text before byte `end`, where it can be divided or, if `ended`, ends.
    fn advance<E: From<ChunkError>>(
        &mut self,
        end: usize,
        ended: bool,
        mut each: impl FnMut(Chunk<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (byte, position) = (self.byte, self.position);
        let head = &self.text[..end];
        let (known, white_space) = (mem::take(&mut self.units), self.rules.keep_white_space);
        let cap = self.rules.cap();
        let units = Units::resumed(head, known, self.split, self.splitter, self.borders, cap.as_ref(), white_space)
            .map_err(|error| in_whole(error, byte))?;
        // What ends before the last unit but one was decided by a unit whose white space is known.
        let last_but_one = units.len().checked_sub(2).map_or(0, |index| units.span(index..index + 1).start());
        let mut chunks = Chunks::new(self.rules, units);
        let mut done = 0;
        while (ended || done < last_but_one)
            && let Some(chunk) = chunks.next()
        {
            let chunk = chunk.map_err(|error| in_whole(error, byte))?;
            if !ended && chunk.span.end() > last_but_one {
                break;
            }
            done = chunk.span.end();
            each(moved(chunk, byte, position))?;
        }
        if ended {
            return Ok(());
        }
        let mut units = chunks.units().to_vec();
        units.drain(..units.partition_point(|unit| unit.span.start() < done));
        // White space in front of the first chunk may still be wanted; behind one that is handed out it is spent.
        let start = units.first().filter(|_| done > 0).map_or(0, |unit| unit.span.start());
        self.position = chunks.position(start).moved_by(position);
        self.byte += start;
        self.units = units.into_iter().map(|unit| Unit { span: unit.span.relative_to(start), ..unit }).collect();
        self.split = end - start;
        self.ask_at = 0;
        self.text.drain(..start);
        Ok(())
    }
}

/// The chunk of a part that lies at `byte` of the whole, with places in the whole.
fn moved(mut chunk: Chunk<'_>, byte: usize, position: Position) -> Chunk<'_> {
    chunk.span = chunk.span.moved_by(byte);
    chunk.start = chunk.start.moved_by(position);
    chunk.end = chunk.end.moved_by(position);
    chunk.sentences.iter_mut().for_each(|span| *span = span.moved_by(byte));
    chunk
}

/// An error of a part that lies at `byte` of the whole.
fn in_whole(mut error: ChunkError, byte: usize) -> ChunkError {
    if let ChunkError::Fit(FitError::CapTooSmall { byte: at, .. }) = &mut error {
        *at += byte;
    }
    error
}

impl fmt::Debug for ChunkStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkStream").field("byte", &self.byte).field("held", &self.text.len()).finish_non_exhaustive()
    }
}
