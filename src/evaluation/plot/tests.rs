use super::super::metrics::Scores;
use super::super::report::{Sizes, Stamp};
use super::super::run::Summary;
use super::super::stats::Moments;
use super::*;

pub(in super::super) const HOSTILE: &str = "</text><script>\"a\" & 'b' \0\u{1b}\u{7f}\u{202e}\u{fffe}\r\n漢🙂 ]]>";

/// A row of these means, with two corpora and a few chunks.
pub(in super::super) fn row(chunker: &str, recall: f64, iou: f64) -> Row {
    let moments = |mean| Moments { mean, std: 0.25 };
    let omega = moments(iou * 3.0);
    let summary =
        Summary { recall: moments(recall), precision: moments(iou), precision_omega: omega, iou: moments(iou) };
    let sizes = Sizes { chunks: 4, mean: 60.0, percentiles: [20, 50, 70, 120], all: vec![20, 50, 50, 120] };
    Row {
        chunker: chunker.to_owned(),
        parameters: "t=0.72,alpha=6".to_owned(),
        summary,
        recall_interval: (recall * 0.9, recall * 1.1),
        iou_interval: (iou * 0.9, iou * 1.1),
        corpora: ["tides", "birds"].map(|corpus| (corpus.to_owned(), summary)).to_vec(),
        sizes,
        seconds: 1.0,
        texts: 9,
        against_first: None,
        published: None,
        scores: vec![Scores { recall, iou, ..Scores::default() }; 4],
    }
}

pub(in super::super) fn report(rows: Vec<Row>) -> Report {
    let words = ["0.1.0", "model", "cpu", "dataset", "2 texts"].map(str::to_owned);
    let [version, model, device, dataset, size] = words;
    let settings = vec![("retrieve".to_owned(), "5".to_owned())];
    Report::new(Stamp { version, model, device, dataset, size, settings }, rows)
}

/// Rows of which every third lies on the front, and the last two.
pub(in super::super) fn sweep(count: u32) -> Report {
    let step = |at: u32| f64::from(at) / f64::from(count);
    report((0..count).map(|at| row("window", step(at), 0.5 - 0.4 * step(at) - 0.1 * f64::from(at % 3))).collect())
}

/// Checks that every element is closed in its turn, and gives all opening tags.
pub(in super::super) fn tags(markup: &str) -> Vec<&str> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    let mut rest = markup;
    while let Some((_, behind)) = rest.split_once('<') {
        let (tag, behind) = behind.split_once('>').unwrap();
        rest = behind;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closes what is not open");
            continue;
        }
        all.push(tag);
        let name = tag.split([' ', '/']).next().unwrap();
        if !tag.ends_with('/') && !matches!(name, "!DOCTYPE" | "meta" | "link" | "wbr") {
            open.push(name);
        }
        if name == "style" {
            rest = &rest[rest.find("</").unwrap()..];
        }
    }
    assert_eq!(open, [""; 0], "left open");
    all
}

fn plots(report: &Report) -> [String; 3] {
    [bars, trade, sizes].map(|plot| plot(report).unwrap())
}

/// The values of an attribute of all elements that have this text in their tag.
fn attributes(svg: &str, of: &str, name: &str) -> Vec<i32> {
    let value = |tag: &str| tag.split_once(&format!(" {name}=\"")).unwrap().1.split_once('"').unwrap().0.parse();
    tags(svg).into_iter().filter(|tag| tag.contains(of)).map(|tag| value(tag).unwrap()).collect()
}

#[test]
fn a_name_cannot_become_markup() {
    let mut rows = vec![row(HOSTILE, 0.7, 0.1), row("b", 0.6, 0.2)];
    HOSTILE.clone_into(&mut rows[1].parameters);
    for svg in plots(&report(rows)) {
        let known = ["svg", "text", "rect", "circle", "line", "polyline"];
        assert!(tags(&svg).iter().all(|tag| known.contains(&tag.split([' ', '/']).next().unwrap())));
        assert!(svg.contains("&lt;/text&gt;") && svg.starts_with("<svg role=\"img\" aria-label=\""));
        assert!(!svg.contains(|c: char| c != '\n' && legible(c) != c));
    }
}

#[test]
fn nothing_little_and_worthless_rows_are_plotted() {
    let empty = report(Vec::new());
    assert!(plots(&empty).iter().all(|svg| svg.contains("nothing to show")));
    let worthless = || row("w", 0.0, 0.0);
    let mut odd = worthless();
    odd.sizes = Sizes { chunks: 2, mean: 0.0, percentiles: [0; 4], all: vec![0, usize::MAX] };
    let mut uncounted = worthless();
    uncounted.sizes = Sizes::default();
    for rows in [vec![row("one", 0.7, 0.1)], vec![worthless(); 3], vec![odd], vec![row("best", 1.0, 1.0)]] {
        plots(&report(rows)).iter().for_each(|svg| assert!(tags(svg).len() > 10));
    }
    let [bars, _, sizes] = plots(&report(vec![uncounted]));
    assert!(bars.contains("<rect") && sizes.contains("nothing to show"));
}

#[test]
fn the_same_report_gives_the_same_plots() {
    assert_eq!(plots(&sweep(60)), plots(&sweep(60)));
}

#[test]
fn a_bar_is_as_long_as_its_score() {
    let svg = bars(&report(vec![row("a", 0.8, 0.1), row("b", 0.4, 0.05), row("c", 0.0, 0.2)])).unwrap();
    // A panel draws from the last row to the first.
    let [recall, iou] = ["#56A0D3", "#C46F9F"].map(|colour| attributes(&svg, colour, "width"));
    assert_eq!(recall[0], 0);
    assert!((recall[2] - 2 * recall[1]).abs() <= 2 && recall[1] > 40, "{recall:?}");
    assert!((iou[0] - 2 * iou[2]).abs() <= 2 && (iou[2] - 2 * iou[1]).abs() <= 2, "{iou:?}");
    let whiskers = svg.matches("<polyline").count();
    assert!(whiskers >= 2 * 3 * 3, "three strokes each for recall and IoU of three rows");
}

#[test]
fn the_front_is_a_line_through_its_rows_and_all_rows_are_points() {
    let svg = trade(&sweep(24)).unwrap();
    let line = tags(&svg).into_iter().find(|tag| tag.starts_with("polyline") && tag.contains("#D55E00")).unwrap();
    assert_eq!(line.matches(',').count(), 24 / 3 + 2);
    // Each row once in the plot and once in the key, and the ring around row 1.
    assert_eq!(svg.matches("<circle").count(), 2 * (24 + 1));
}

#[test]
fn of_many_rows_the_first_and_both_ends_of_the_front_are_named() {
    let report = sweep(300);
    let front = &report.front;
    let named = chosen(&report, MANY);
    assert_eq!(named.len(), MANY);
    assert_eq!((named[0], named[1], named.last()), (0, front[0], front.iter().rfind(|&&at| at > 0)));
    assert!(named[1..].is_sorted_by(|a, b| a > b), "by recall, each once");
    assert!(trade(&report).unwrap().contains("Named are 24 of 300 rows."));
    for count in 0..40 {
        let named = chosen(&sweep(count), PANELS);
        assert!(named.len() <= PANELS && !(count > 0 && named.is_empty()));
    }
}

#[test]
fn numbers_stand_clear_of_each_other_where_there_is_room() {
    let front: Vec<(i32, i32)> = (0..20).map(|at| (100 + 20 * at, 100 + 15 * at)).collect();
    let numbers: Vec<String> = (95..115).map(|number| number.to_string()).collect();
    let places = labels(&front, &numbers, &front, &(0..600, 0..500));
    for (at, a) in places.iter().enumerate() {
        assert!(places[..at].iter().all(|b| (a.0 - b.0).abs() >= 24 || (a.1 - b.1).abs() >= 14), "{places:?}");
    }
    // A point in the corner: its number stays in the frame.
    assert_eq!(labels(&[(599, 0)], &["7".to_owned()], &[], &(0..600, 0..500)), [(588, 12)]);
}

#[test]
fn every_chunk_is_in_one_bar() {
    let sizes: Vec<usize> = (0..5000).collect();
    let bins = bins(&sizes, &(0..13));
    assert_eq!(bins.iter().map(|&(_, count)| count).sum::<usize>(), 5000);
    // Sizes from 128 on to 152, below 2^7.25.
    assert_eq!(bins.iter().find(|&&(octave, _)| octave.to_bits() == 7.0_f64.to_bits()), Some(&(7.0, 25)));
}

#[test]
fn long_names_end_in_an_ellipsis() {
    assert_eq!(shortened("window", 6), "window");
    assert_eq!(shortened("windows\n", 6), "windo…");
    assert_eq!(shortened("漢字\n\0", 6), "漢字 \u{fffd}");
}
