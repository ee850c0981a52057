//! What the plots share: colours, text, axes, the names of rows, and the SVG around a plot.

use plotters::chart::MeshStyle;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::PlotError;
use crate::evaluation::report::{Report, Row};

pub(super) type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
pub(super) type Axes<'a, 'b, 'c> = MeshStyle<'a, 'c, RangedCoordf64, RangedCoordf64, SVGBackend<'b>>;
pub(super) type Failure = DrawingAreaErrorKind<std::io::Error>;
pub(super) type Drawn = Result<(), Failure>;

pub(super) const WIDTH: u32 = 960;
/// Height of a line of a key, and of the note below a plot.
pub(super) const LINE: i32 = 19;
pub(super) const NOTE: i32 = 30;

pub(super) const INK: RGBColor = RGBColor(0x23, 0x21, 0x1e);
pub(super) const MUTED: RGBColor = RGBColor(0x66, 0x61, 0x5a);
pub(super) const GRID: RGBColor = RGBColor(0xe2, 0xdd, 0xd4);
pub(super) const BLUE: RGBColor = RGBColor(0x56, 0xa0, 0xd3);
pub(super) const GREEN: RGBColor = RGBColor(0x3f, 0xa5, 0x8a);
pub(super) const PURPLE: RGBColor = RGBColor(0xc4, 0x6f, 0x9f);
pub(super) const RED: RGBColor = RGBColor(0xd5, 0x5e, 0x00);

/// What a row is called in a plot: number, chunker, and settings on a line of their own.
pub(super) struct Name {
    chunker: String,
    settings: String,
}

impl Name {
    pub(super) fn of(report: &Report, at: usize) -> Self {
        let Row { chunker, parameters, .. } = &report.rows[at];
        Self { chunker: format!("{} {}", at + 1, shortened(chunker, 24)), settings: shortened(parameters, 44) }
    }

    pub(super) fn width(&self) -> i32 {
        width(&self.chunker, 8).max(width(&self.settings, 7))
    }

    /// Draws it with the middle of its left side at this place.
    pub(super) fn draw(&self, canvas: &Canvas<'_>, (x, y): (i32, i32)) -> Drawn {
        canvas.draw_text(&self.chunker, &text(13, INK, HPos::Left), (x, y - 8))?;
        canvas.draw_text(&self.settings, &text(11, MUTED, HPos::Left), (x, y + 7))
    }
}

/// What all plots have in common.
pub(super) struct Plot {
    pub(super) name: &'static str,
    /// Without the note.
    pub(super) height: i32,
    pub(super) note: &'static str,
}

impl Plot {
    /// Draws these rows, with the note below that says which they are; only that if there is none.
    pub(super) fn draw(
        &self,
        report: &Report,
        rows: &[usize],
        draw: impl FnOnce(&Canvas<'_>) -> Drawn,
    ) -> Result<String, PlotError> {
        let (shown, all) = (rows.len(), report.rows.len());
        let part = format!("{} Named are {shown} of {all} rows.", self.note);
        let note = if shown == all { self.note } else { &part };
        self.draw_noted(note, shown == 0, draw)
    }

    /// Draws with this note below; only that there is nothing to show if that is so.
    pub(super) fn draw_noted(
        &self,
        note: &str,
        is_empty: bool,
        draw: impl FnOnce(&Canvas<'_>) -> Drawn,
    ) -> Result<String, PlotError> {
        let (height, note) = if is_empty { (0, "There is nothing to show.") } else { (self.height, note) };
        let mut svg = String::new();
        let canvas = SVGBackend::with_string(&mut svg, (WIDTH, (height + NOTE).unsigned_abs())).into_drawing_area();
        let (upper, lower) = canvas.split_vertically(height);
        let plotted = if is_empty { Ok(()) } else { draw(&upper) };
        let noted = lower.draw_text(note, &text(11, MUTED, HPos::Left), (0, NOTE - 10));
        let result = plotted.and(noted).and(canvas.present());
        drop((canvas, upper, lower));
        result.map_err(|source| PlotError::Drawing { plot: self.name, source: source.into() })?;
        // A name for those who cannot see it.
        Ok(svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{}\" ", self.name), 1))
    }
}

/// Text of so many pixels whose middle height is at its place.
pub(super) fn text(pixels: u32, colour: RGBColor, anchor: HPos) -> TextStyle<'static> {
    // The backend divides sizes by this.
    let size = f64::from(pixels) * 1.24;
    let font = FontDesc::new(FontFamily::Name("system-ui, sans-serif"), size, FontStyle::Normal);
    TextStyle { color: colour.to_backend_color(), ..TextStyle::from(font) }.pos(Pos::new(anchor, VPos::Center))
}

/// About how many pixels a text takes, at so many a letter.
pub(super) fn width(text: &str, letter: i32) -> i32 {
    text.chars().map(|_| letter).sum()
}

/// Figures and a quiet grid, the same for every chart.
pub(super) fn axes<'a, 'b, 'c>(chart: &'c mut Chart<'a, 'b>) -> Axes<'a, 'b, 'c> {
    let mut axes = chart.configure_mesh();
    axes.x_label_formatter(&|value| figure(*value)).y_label_formatter(&|value| figure(*value));
    axes.label_style(text(11, MUTED, HPos::Center)).axis_desc_style(text(13, INK, HPos::Center));
    axes.bold_line_style(GRID).light_line_style(TRANSPARENT).axis_style(GRID);
    axes
}

/// A number at an axis.
pub(super) fn figure(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// At most so many characters, all of them legible.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let mut letters = text.chars().map(legible);
    let start: String = letters.by_ref().take(most).collect();
    if letters.next().is_some() { start.chars().take(most - 1).chain(['…']).collect() } else { start }
}

/// The character, or a sign for one that neither XML nor HTML may hold, or that turns the text around it.
pub(in crate::evaluation) fn legible(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' => ' ',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fdd0}'..='\u{fdef}' => '\u{fffd}',
        _ if c.is_control() || (c as u32) & 0xfffe == 0xfffe => '\u{fffd}',
        _ => c,
    }
}
