//! The table that Horchunk's authors published, as data: the chunkers in its order, with their scores.
//!
//! The rows of the dynamic window are their own, the others they took in part from Chroma's report (Smith and
//! Troynikov 2024). `eval/README.md` says how the two came about.

use super::report::Published;
use crate::chunker::ChunkerSpec;

const TABLE: &str = include_str!("../../eval/published.csv");

/// The twelve chunkers of the published table, in its order, with what was published for them.
///
/// # Panics
///
/// Never: a test reads the table.
#[must_use]
pub fn published_table() -> Vec<(ChunkerSpec, Published)> {
    let mut reader = csv::Reader::from_reader(TABLE.as_bytes());
    let rows = reader.deserialize::<(String, f64, f64, f64, f64)>();
    rows.map(|row| {
        let (spec, recall, precision, omega, iou) = row.expect("the table inside is sound");
        let spec = spec.parse().expect("the table inside names chunkers");
        (spec, Published { percent: [recall, precision, omega, iou] })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_twelve_different_rows_of_percentages() {
        let table = published_table();
        let names: std::collections::BTreeSet<String> = table.iter().map(|(spec, _)| spec.to_string()).collect();
        assert_eq!((table.len(), names.len()), (12, 12));
        assert!(table.iter().all(|(_, row)| row.percent.iter().all(|percent| (0.0..=100.0).contains(percent))));
    }
}
