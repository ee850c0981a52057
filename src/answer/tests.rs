//! Readers, selectors and the pipeline on small texts.
