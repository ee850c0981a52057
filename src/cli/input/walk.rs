//! The files of a folder, in the order of their names, as a `.gitignore` lets them be seen.

use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};
use ignore::overrides::OverrideBuilder;
use ignore::{DirEntry, WalkBuilder};

use super::Place;
use crate::cli::Usage;

/// What is text without being told.
const GLOBS: [&str; 11] =
    ["*.adoc", "*.asciidoc", "*.markdown", "*.md", "*.mdx", "*.org", "*.rst", "*.tex", "*.text", "*.txt", "*.wiki"];

/// The files below `folder` that match one of the globs, `prefix` in front of their names; one error if there are none.
/// What lies at `output` is left out.
pub(super) fn files(
    folder: &Path,
    prefix: &Path,
    globs: &[String],
    output: Option<&Path>,
) -> anyhow::Result<Vec<anyhow::Result<Place>>> {
    let mut matching = OverrideBuilder::new(folder);
    // Endings are the same text in capitals; a glob of the user's own says what it says.
    let own = !globs.is_empty();
    matching.case_insensitive(!own).map_err(|error| Usage(format!("--glob: {error}")))?;
    let default = GLOBS.map(str::to_owned);
    let globs = if globs.is_empty() { &default[..] } else { globs };
    for glob in globs {
        matching.add(glob).map_err(|error| Usage(format!("--glob {glob:?}: {error}")))?;
    }
    let matching = matching.build().map_err(|error| Usage(format!("--glob: {error}")))?;
    // As overrides of the walk itself the globs would win over .gitignore.
    let output = output.map(Path::to_owned);
    let matches = move |entry: &DirEntry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        !matching.matched(entry.path(), is_folder).is_ignore()
            && !output.as_deref().is_some_and(|output| is_same(entry, output))
    };
    let walk = WalkBuilder::new(folder).require_git(false).sort_by_file_path(Path::cmp).filter_entry(matches).build();
    let mut places = Vec::new();
    for entry in walk {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                places.push(Ok(Place::File { name: name(folder, prefix, entry.path()), path: entry.into_path() }));
            }
            Ok(_) => {}
            Err(error) => places.push(Err(error).with_context(|| format!("in {}", folder.display()))),
        }
    }
    if places.is_empty() {
        let globs = globs.join(" ");
        places.push(Err(anyhow!("{}: no file matches {globs}; choose others with --glob", folder.display())));
    }
    Ok(places)
}

/// Whether an entry of the walk, but not the folder it starts from, is the file or folder of this canonical path.
fn is_same(entry: &DirEntry, output: &Path) -> bool {
    entry.depth() > 0
        && entry.path().file_name() == output.file_name()
        && fs::canonicalize(entry.path()).is_ok_and(|path| path == output)
}

/// A path inside a folder, with `/` on every system.
fn name(folder: &Path, prefix: &Path, path: &Path) -> String {
    let inside = prefix.join(path.strip_prefix(folder).unwrap_or(path));
    inside.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
