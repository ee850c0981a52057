//! The plot of a fidelity report: what each counter gets wrong, a dot a language.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::canvas::{BLUE, Drawn, INK, LINE, MUTED, Plot, RED, axes, shortened, text, width};
use super::{PlotError, around};
use crate::evaluation::fidelity::{CounterFidelity, FidelityReport, LanguageCount};

/// The error of every counter in every language: a line a counter, a dot a language, red where too few tokens are
/// counted. The languages at both ends of a line are named, and the line of no error is drawn.
///
/// # Errors
///
/// [`PlotError::Drawing`]
pub fn errors(report: &FidelityReport) -> Result<String, PlotError> {
    const ROW: i32 = 40;
    const BELOW: i32 = 46;
    let counters = &report.counters;
    let errors: Vec<f64> =
        counters.iter().flat_map(|counter| &counter.languages).map(|count| count.error * 100.0).collect();
    let height = counters.iter().map(|_| ROW).sum::<i32>() + BELOW + LINE;
    let plot = Plot { name: "error of each token counter in each language", height, note: "" };
    let note = format!(
        "A dot a language. Red: fewer tokens than {}, which overflows a budget. Named are the ends.",
        shortened(&report.reference, 40)
    );
    plot.draw_noted(&note, errors.is_empty(), |canvas| {
        let names: Vec<String> = counters.iter().map(|counter| shortened(&counter.name(), 32)).collect();
        let indent = names.iter().map(|name| width(name, 8)).max().unwrap_or_default() + 16;
        let (left, right) = canvas.split_horizontally(indent);
        // Below no error there is less than everything to miss, and the names at the ends need room.
        let mut range = around(&errors.iter().copied().chain([0.0]).collect::<Vec<_>>());
        let least = errors.iter().copied().fold(0.0, f64::min);
        let room = (range.end - least) * 0.06;
        range = least - room..range.end + room;
        let mut chart = ChartBuilder::on(&right)
            .margin_top(LINE)
            .margin_right(16)
            .x_label_area_size(BELOW)
            .build_cartesian_2d(range, 0.0..counters.len() as f64)?;
        axes(&mut chart).disable_y_mesh().disable_y_axis().x_labels(9).x_desc("error, percent").draw()?;
        let upright = PathElement::new(vec![(0.0, 0.0), (0.0, counters.len() as f64)], INK);
        chart.plotting_area().draw(&upright)?;
        let origin = right.get_base_pixel();
        for (line, (counter, name)) in counters.iter().zip(&names).rev().enumerate() {
            let y = line as f64 + 0.5;
            let place = |count: &LanguageCount| {
                let (x, y) = chart.backend_coord(&(count.error * 100.0, y));
                (x - origin.0, y - origin.1)
            };
            left.draw_text(name, &text(13, INK, HPos::Left), (0, chart.backend_coord(&(0.0, y)).1 - origin.1))?;
            for count in &counter.languages {
                let colour = if count.error < 0.0 { RED } else { BLUE };
                right.draw(&Circle::new(place(count), 4, colour.mix(0.7).filled()))?;
            }
            draw_ends(&right, counter, place)?;
        }
        Ok(())
    })
}

/// The languages of the least and of the largest error, above their dots; one name where all errors are alike.
fn draw_ends(
    canvas: &super::Canvas<'_>,
    counter: &CounterFidelity,
    place: impl Fn(&LanguageCount) -> (i32, i32),
) -> Drawn {
    let by_error = |a: &&LanguageCount, b: &&LanguageCount| a.error.total_cmp(&b.error);
    let ends = counter.languages.iter().min_by(by_error).zip(counter.languages.iter().max_by(by_error));
    let Some((least, most)) = ends.filter(|(least, most)| least.error < most.error) else { return Ok(()) };
    let ((left, _), (right, y)) = (place(least), place(most));
    let (lower, upper) = (shortened(&least.language, 16), shortened(&most.language, 16));
    canvas.draw_text(&upper, &text(11, MUTED, HPos::Center), (right, y - 12))?;
    // Names that would touch are one too many.
    let apart = right - left > i32::midpoint(width(&lower, 7), width(&upper, 7));
    if apart { canvas.draw_text(&lower, &text(11, MUTED, HPos::Center), (left, y - 12)) } else { Ok(()) }
}
