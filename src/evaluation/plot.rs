//! The plots of a report, as SVG: the scores of its rows, recall against IoU, and how large the chunks are.
//!
//! Whoever shows a plot sets its text in a font of their own, so nothing is measured here: widths of text are guesses
//! on the safe side. Colours are near those that Okabe and Ito chose for every kind of colour vision, but dark enough
//! to stand on white.

mod canvas;
mod fidelity;

use std::error::Error;
use std::ops::Range;

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::report::{Report, Row};

pub(super) use canvas::legible;
use canvas::{
    BLUE, Canvas, Chart, Drawn, Failure, GREEN, INK, LINE, MUTED, Name, PURPLE, Plot, RED, WIDTH, axes, figure,
    shortened, text, width,
};
pub use fidelity::errors;

/// Why there is no plot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The drawing library gave up.
    #[error("the plot of {plot} could not be drawn")]
    Drawing {
        /// What it would have shown.
        plot: &'static str,
        /// Why.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

/// Most rows that a plot names.
pub(super) const MANY: usize = 24;
/// Most histograms.
const PANELS: usize = 12;
const COLUMNS: usize = 3;

/// A score with what is known of it, in percent.
struct Metric {
    name: &'static str,
    colour: RGBColor,
    mean: fn(&Row) -> f64,
    interval: fn(&Row) -> Option<(f64, f64)>,
}

const METRICS: [Metric; 3] = [
    Metric {
        name: "recall",
        colour: BLUE,
        mean: |row| row.summary.recall.mean * 100.0,
        interval: |row| Some((row.recall_interval.0 * 100.0, row.recall_interval.1 * 100.0)),
    },
    Metric {
        name: "precision-omega",
        colour: GREEN,
        mean: |row| row.summary.precision_omega.mean * 100.0,
        interval: |_| None,
    },
    Metric {
        name: "IoU",
        colour: PURPLE,
        mean: |row| row.summary.iou.mean * 100.0,
        interval: |row| Some((row.iou_interval.0 * 100.0, row.iou_interval.1 * 100.0)),
    },
];

/// Recall, precision-omega and IoU of every row as bars, with the intervals that are known; of more than two dozen
/// rows those of the first and of the front.
///
/// # Errors
///
/// [`PlotError::Drawing`]
pub fn bars(report: &Report) -> Result<String, PlotError> {
    const ROW: i32 = 34;
    const HEAD: i32 = 30;
    let rows = chosen(report, MANY);
    let body = HEAD + rows.iter().map(|_| ROW).sum::<i32>() + LINE;
    let note = "Percent. A thin line holds 95 % of the bootstrapped means.";
    let plot = Plot { name: "recall, precision-omega and IoU of each row", height: body, note };
    plot.draw(report, &rows, |canvas| {
        let names = rows.iter().map(|&at| Name::of(report, at)).collect::<Vec<_>>();
        let indent = names.iter().map(Name::width).max().unwrap_or_default() + 20;
        for (y, name) in (HEAD..).step_by(ROW.unsigned_abs() as usize).zip(&names) {
            name.draw(canvas, (0, y + ROW / 2))?;
        }
        let (_, right) = canvas.split_horizontally(indent);
        for (panel, metric) in right.split_evenly((1, METRICS.len())).iter().zip(METRICS) {
            let rows: Vec<&Row> = rows.iter().map(|&at| &report.rows[at]).collect();
            draw_metric(panel, HEAD, &metric, &rows)?;
        }
        Ok(())
    })
}

fn draw_metric(panel: &Canvas<'_>, head: i32, metric: &Metric, rows: &[&Row]) -> Drawn {
    let end = |row: &Row| (metric.interval)(row).map_or(0.0, |(_, high)| high).max((metric.mean)(row));
    // The figures stand behind the bars: they need a quarter of the width.
    let most = rows.iter().map(|row| end(row)).fold(1.0, f64::max) * 1.25;
    let mut chart = ChartBuilder::on(panel)
        .margin_top(head)
        .margin_right(16)
        .x_label_area_size(LINE)
        .build_cartesian_2d(0.0..most, 0.0..rows.len() as f64)?;
    axes(&mut chart).disable_y_mesh().disable_y_axis().x_labels(5).draw()?;
    panel.draw_text(metric.name, &text(13, INK, HPos::Left), (0, head / 2))?;
    let origin = panel.get_base_pixel();
    for (line, row) in rows.iter().rev().enumerate() {
        let (y, mean) = (line as f64, (metric.mean)(row));
        let bar = Rectangle::new([(0.0, y + 0.26), (mean, y + 0.74)], metric.colour.filled());
        chart.plotting_area().draw(&bar)?;
        if let Some((low, high)) = (metric.interval)(row) {
            for whisker in [[(low, 0.5), (high, 0.5)], [(low, 0.4), (low, 0.6)], [(high, 0.4), (high, 0.6)]] {
                let path = whisker.map(|(x, part)| (x, y + part)).to_vec();
                chart.plotting_area().draw(&PathElement::new(path, INK))?;
            }
        }
        let (x, y) = chart.backend_coord(&(end(row), y + 0.5));
        panel.draw_text(&format!("{mean:.1}"), &text(12, INK, HPos::Left), (x - origin.0 + 6, y - origin.1))?;
    }
    Ok(())
}

/// IoU against recall, a point a row, with the front as a line. Points bear the number of their row, which a key
/// explains; of more than two dozen only the first and those of the front do.
///
/// # Errors
///
/// [`PlotError::Drawing`]
pub fn trade(report: &Report) -> Result<String, PlotError> {
    const HEIGHT: i32 = 540;
    const KEY: i32 = 340;
    let mut named = chosen(report, MANY);
    named.sort_by_key(|&at| (report.front.iter().position(|&on| on == at).unwrap_or(usize::MAX), at));
    let note = "The line joins the rows that no other row beats in both. A ring marks row 1.";
    let plot = Plot { name: "IoU against recall of each row", height: HEIGHT, note };
    plot.draw(report, &named, |canvas| {
        let (left, right) = canvas.split_horizontally(WIDTH.cast_signed() - KEY);
        let points: Vec<(f64, f64)> = report.rows.iter().map(point).collect();
        let chart = trade_chart(&left, &points)?;
        let places: Vec<(i32, i32)> = points.iter().map(|point| chart.backend_coord(point)).collect();
        let front = report.front.iter().map(|&at| places[at]).collect::<Vec<_>>();
        for (at, &place) in places.iter().enumerate().filter(|(at, _)| !named.contains(at)) {
            mark(canvas, report, at, place, 2)?;
        }
        canvas.draw(&PathElement::new(front.clone(), RED.stroke_width(2)))?;
        named.iter().try_for_each(|&at| mark(canvas, report, at, places[at], 4))?;
        let numbers = named.iter().map(|&at| (at + 1).to_string()).collect::<Vec<_>>();
        let points = named.iter().map(|&at| places[at]).collect::<Vec<_>>();
        let frame = chart.plotting_area().get_pixel_range();
        for (number, place) in numbers.iter().zip(labels(&points, &numbers, &front, &frame)) {
            canvas.draw_text(number, &text(12, INK, HPos::Center), place)?;
        }
        draw_key(&right, report, &named)
    })
}

fn point(row: &Row) -> (f64, f64) {
    (row.summary.recall.mean * 100.0, row.summary.iou.mean * 100.0)
}

fn trade_chart<'a, 'b>(area: &Canvas<'b>, points: &[(f64, f64)]) -> Result<Chart<'a, 'b>, Failure> {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(46)
        .y_label_area_size(52)
        .build_cartesian_2d(around(&x), around(&y))?;
    axes(&mut chart).x_desc("recall, percent").y_desc("IoU, percent").x_labels(8).y_labels(8).draw()?;
    Ok(chart)
}

/// From below the least to above the largest, never without width.
fn around(values: &[f64]) -> Range<f64> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let room = ((high - low) * 0.08).max(0.5);
    (low - room).max(0.0)..high + room
}

/// A row's point: one colour for the front, another for the rest, a ring around row 1.
fn mark(canvas: &Canvas<'_>, report: &Report, at: usize, place: (i32, i32), radius: u32) -> Drawn {
    let colour = if report.front.contains(&at) { RED } else { BLUE };
    canvas.draw(&Circle::new(place, radius, colour.filled()))?;
    if at == 0 { canvas.draw(&Circle::new(place, radius + 3, INK)) } else { Ok(()) }
}

/// Where the number of each point is written, its middle: the first place around the point that is free, else the one
/// that hides the least.
fn labels(
    points: &[(i32, i32)],
    numbers: &[String],
    front: &[(i32, i32)],
    frame: &(Range<i32>, Range<i32>),
) -> Vec<(i32, i32)> {
    // What a front leaves free comes first: it falls from the upper left to the lower right.
    const AROUND: [(i32, i32); 8] = [(1, -1), (1, 0), (0, -1), (-1, -1), (1, 1), (0, 1), (-1, 0), (-1, 1)];
    let boxed = |(x, y): (i32, i32), half: i32, high: i32| [x - half, y - high, x + half, y + high];
    let overlap =
        |a: [i32; 4], b: [i32; 4]| (a[2].min(b[2]) - a[0].max(b[0])).max(0) * (a[3].min(b[3]) - a[1].max(b[1])).max(0);
    let line = front.windows(2).flat_map(|ends| {
        let [(x, y), (dx, dy)] = [ends[0], (ends[1].0 - ends[0].0, ends[1].1 - ends[0].1)];
        (1..32).map(move |part| (x + dx * part / 32, y + dy * part / 32))
    });
    let mut taken: Vec<[i32; 4]> = points.iter().map(|&point| boxed(point, 5, 5)).collect();
    taken.extend(line.map(|point| boxed(point, 1, 1)));
    let mut places = Vec::new();
    for (&(x, y), number) in points.iter().zip(numbers) {
        let half = width(number, 4) + 1;
        let hidden = |&place: &(i32, i32)| {
            let own = boxed(place, half, 7);
            let inside = overlap(own, [frame.0.start, frame.1.start, frame.0.end, frame.1.end]);
            let outside = overlap(own, own) - inside;
            outside + taken.iter().map(|&other| overlap(own, other)).sum::<i32>()
        };
        let rings = [7, 16].into_iter();
        let around = rings.flat_map(|far| AROUND.map(|(dx, dy)| (x + dx * (half + far - 1), y + dy * (far + 5))));
        let place = around.min_by_key(hidden).unwrap_or((x, y));
        taken.push(boxed(place, half, 7));
        places.push(place);
    }
    places
}

fn draw_key(area: &Canvas<'_>, report: &Report, named: &[usize]) -> Drawn {
    for (y, &at) in (LINE..).step_by(LINE.unsigned_abs() as usize).zip(named) {
        mark(area, report, at, (22, y), 4)?;
        area.draw_text(&(at + 1).to_string(), &text(12, INK, HPos::Right), (56, y))?;
        area.draw_text(&shortened(&report.rows[at].label(), 40), &text(11, INK, HPos::Left), (64, y))?;
    }
    Ok(())
}

/// How many chunks have how many tokens, a panel for each of the first dozen rows whose chunks were counted; of more
/// rows, for the first and some of the front.
///
/// # Errors
///
/// [`PlotError::Drawing`]
pub fn sizes(report: &Report) -> Result<String, PlotError> {
    const PANEL: i32 = 170;
    let mut rows = chosen(report, PANELS);
    rows.retain(|&at| !report.rows[at].sizes.all.is_empty());
    let lines = rows.len().div_ceil(COLUMNS);
    let body = (0..lines).map(|_| PANEL).sum::<i32>();
    let note = "Tokens on a scale that doubles. The dark line stands at the mean.";
    let plot = Plot { name: "chunks of each row by their tokens", height: body, note };
    plot.draw(report, &rows, |canvas| {
        let all = || rows.iter().flat_map(|&at| &report.rows[at].sizes.all).map(|&tokens| tokens.max(1));
        let low = all().min().unwrap_or(1).ilog2();
        let high = all().max().unwrap_or(1).ilog2() + 1;
        // A scale of less than four doublings would have marks between them.
        let octaves = low..high.max(low + 4);
        for (panel, &at) in canvas.split_evenly((lines, COLUMNS)).iter().zip(&rows) {
            draw_sizes(panel, report, at, &octaves)?;
        }
        Ok(())
    })
}

fn draw_sizes(panel: &Canvas<'_>, report: &Report, at: usize, octaves: &Range<u32>) -> Drawn {
    const HEAD: i32 = 42;
    const RIGHT: i32 = 28;
    let sizes = &report.rows[at].sizes;
    let bins = bins(&sizes.all, octaves);
    let most = bins.iter().map(|&(_, count)| count).max().unwrap_or_default().max(1) as f64;
    let mut chart = ChartBuilder::on(panel)
        .margin_top(HEAD)
        .margin_right(RIGHT)
        .margin_bottom(8)
        .margin_left(4)
        .x_label_area_size(LINE)
        .build_cartesian_2d(f64::from(octaves.start)..f64::from(octaves.end), 0.0..most)?;
    let tokens = |octave: &f64| figure(octave.exp2());
    axes(&mut chart).disable_mesh().disable_y_axis().axis_style(MUTED).x_labels(7).x_label_formatter(&tokens).draw()?;
    for (octave, count) in bins {
        let bar = Rectangle::new([(octave, 0.0), (octave + BIN, count as f64)], BLUE.filled());
        chart.plotting_area().draw(&bar)?;
    }
    let mean = sizes.mean.max(1.0).log2();
    chart.plotting_area().draw(&PathElement::new(vec![(mean, 0.0), (mean, most)], INK.stroke_width(2)))?;
    let name = Name::of(report, at);
    name.draw(panel, (0, HEAD / 2))?;
    let numbers = format!("{} chunks, mean {:.0}", sizes.chunks, sizes.mean);
    let right = panel.dim_in_pixel().0.cast_signed() - RIGHT;
    panel.draw_text(&numbers, &text(11, MUTED, HPos::Right), (right, HEAD / 2 - 8))
}

/// Width of a bar of a histogram, in doublings.
const BIN: f64 = 0.25;

/// The lower ends of the bars that are not empty, in doublings, and how many sizes they hold.
fn bins(sizes: &[usize], octaves: &Range<u32>) -> Vec<(f64, usize)> {
    let starts = octaves.clone().flat_map(|octave| [0.0, 1.0, 2.0, 3.0].map(|part| f64::from(octave) + part * BIN));
    let count = |start: f64| {
        let tokens = start.exp2()..(start + BIN).exp2();
        sizes.iter().filter(|&&size| tokens.contains(&(size.max(1) as f64))).count()
    };
    starts.map(|start| (start, count(start))).filter(|&(_, count)| count > 0).collect()
}

/// Rows that a plot for at most so many shows: all, or else the first and, taken evenly, those of the front.
fn chosen(report: &Report, most: usize) -> Vec<usize> {
    if report.rows.len() <= most {
        return (0..report.rows.len()).collect();
    }
    let front: Vec<usize> = report.front.iter().copied().filter(|&at| at > 0).collect();
    let (last, steps) = (front.len().saturating_sub(1), (most - 2).min(front.len().saturating_sub(1)).max(1));
    let taken = (0..front.len().min(steps + 1)).map(|step| front[step * last / steps]);
    [0].into_iter().chain(taken).collect()
}

#[cfg(test)]
pub(super) mod tests;
