//! Thresholds that were found, with how they were found, under a name.
//!
//! A profile is a TOML file. Its first keys are what a chunker needs; `[found]` tells where they come from, and is not
//! needed to chunk.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};
use tempfile::NamedTempFile;

use super::session::{Session, TextStamp, today};
use super::tuner::{Found, cut_down};
use crate::sentence::SplitterName;

/// A threshold with what it was found for.
///
/// ```
/// use horchunk::tuning::Profile;
///
/// let profile = Profile::find("prose", &[])?;
/// assert!(profile.threshold > 0.0 && profile.max_sentences > 1);
/// # Ok::<(), horchunk::tuning::ProfileError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Profile {
    /// What the texts are that it serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The threshold, cut down to two decimals.
    #[serde(serialize_with = "short")]
    pub threshold: f32,
    /// Most sentences of a chunk.
    pub max_sentences: usize,
    /// How sentences are found.
    pub sentences: String,
    /// Name of the embedding model.
    pub model: String,
    /// SHA-256 of its weights; a threshold means nothing for another model.
    pub model_sha256: String,
    /// What is put in front of every text that is embedded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text_prefix: String,
    /// How the threshold was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Provenance>,
}

/// How a threshold was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Provenance {
    /// The threshold in full.
    #[serde(serialize_with = "short")]
    pub threshold: f32,
    /// Who judged: `person`, `llm:ID`, `script`.
    pub judge: String,
    /// The day, in UTC.
    pub date: String,
    /// Sentences of a run.
    pub depth: usize,
    /// Verdicts given.
    pub verdicts: usize,
    /// Verdicts that fit the threshold.
    pub fitting: usize,
    /// From the lowest similarity judged to hold ...
    #[serde(default, serialize_with = "short_option", skip_serializing_if = "Option::is_none")]
    pub lowest_holding: Option<f32>,
    /// ... to the highest judged to drift. Where this one is the larger, the judge contradicted himself in between.
    #[serde(default, serialize_with = "short_option", skip_serializing_if = "Option::is_none")]
    pub highest_drifting: Option<f32>,
    /// Standard deviation of the thresholds of several texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// The texts.
    pub texts: Vec<TextStamp>,
}

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// Nothing has that name.
    #[error("there is no profile {name:?} in {places}; the profiles inside are {shipped}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Where it was looked for.
        places: String,
        /// Those that are always there.
        shipped: String,
    },
    /// The file cannot be read.
    #[error("the profile {} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("the profile {} cannot be written", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file that is no profile would be replaced, or a profile that was found on other texts or by another judge.
    #[error("{} {what}, and would be replaced: take another name for the profile", path.display())]
    Taken {
        /// The file.
        path: PathBuf,
        /// What lies there.
        what: &'static str,
    },
    /// The file is no profile.
    #[error("{place} is no profile: {problem}")]
    Broken {
        /// The file, or the name of a profile inside.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The profile was found with another model.
    #[error(
        "the profile was found with the model {profile}, and its threshold means nothing for {model}: take that model, or tune on this one"
    )]
    Model {
        /// The profile's model.
        profile: String,
        /// The model at hand.
        model: String,
    },
}

/// Profiles inside this crate, sorted by name.
const SHIPPED: &[(&str, &str)] = &[
    ("manual", include_str!("../../tuning/manual.toml")),
    ("prose", include_str!("../../tuning/prose.toml")),
    ("study", include_str!("../../tuning/study.toml")),
    ("terms", include_str!("../../tuning/terms.toml")),
];

impl Profile {
    /// The profile of a finished session; `None` where no threshold was found.
    #[must_use]
    pub fn new(session: &Session, found: &Found) -> Option<Self> {
        let threshold = found.threshold?;
        let settings = &session.settings;
        let agreement = &found.agreement;
        Some(Self {
            about: None,
            threshold: cut_down(threshold),
            max_sentences: settings.max_sentences,
            sentences: settings.sentences.clone(),
            model: settings.model.clone(),
            model_sha256: settings.model_sha256.clone(),
            text_prefix: settings.text_prefix.clone(),
            found: Some(Provenance {
                threshold,
                judge: session.judges(),
                date: today(),
                depth: settings.depth,
                verdicts: agreement.verdicts,
                fitting: agreement.fitting,
                lowest_holding: agreement.lowest_holding,
                highest_drifting: agreement.highest_drifting,
                spread: found.spread(),
                texts: session.texts.clone(),
            }),
        })
    }

    /// The profile that `name` means: a file of that path, `name.toml` in one of the folders, one inside this crate, in
    /// this order.
    ///
    /// # Errors
    ///
    /// [`ProfileError`]
    pub fn find(name: &str, folders: &[PathBuf]) -> Result<Self, ProfileError> {
        if Self::is_path(name) {
            return Self::read(Path::new(name));
        }
        let file = format!("{name}.toml");
        if let Some(path) = folders.iter().map(|folder| folder.join(&file)).find(|path| path.exists()) {
            return Self::read(&path);
        }
        match SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
            Some((name, text)) => Self::parse(text, name),
            None => Err(ProfileError::Unknown {
                name: name.to_owned(),
                places: folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" or "),
                shipped: Self::shipped().collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// Where a profile of this name is written: `tuning/name.toml`, or `name` itself where it is a path.
    #[must_use]
    pub fn place(name: &str) -> PathBuf {
        if Self::is_path(name) { PathBuf::from(name) } else { Path::new("tuning").join(format!("{name}.toml")) }
    }

    fn is_path(name: &str) -> bool {
        let path = Path::new(name);
        path.components().count() > 1 || path.extension().is_some_and(|ending| ending == "toml")
    }

    /// Names of the profiles inside this crate.
    pub fn shipped() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// Reads a profile from its file.
    ///
    /// # Errors
    ///
    /// [`ProfileError::Read`], [`ProfileError::Broken`]
    pub fn read(path: &Path) -> Result<Self, ProfileError> {
        let text = fs::read_to_string(path).map_err(|source| ProfileError::Read { path: path.to_owned(), source })?;
        Self::parse(&text, &path.display().to_string())
    }

    fn parse(text: &str, place: &str) -> Result<Self, ProfileError> {
        let broken = |problem: String| ProfileError::Broken { place: place.to_owned(), problem };
        let profile: Self = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.get(..at).map_or(0, |before| before.matches('\n').count());
            let words: String = text.lines().nth(line).unwrap_or_default().chars().take(60).collect();
            broken(format!("line {} ({words}): {}", line + 1, error.message()))
        })?;
        if !(-1.0..=1.0).contains(&profile.threshold) {
            return Err(broken(format!("the threshold {} does not lie between -1 and 1", profile.threshold)));
        }
        if profile.max_sentences == 0 {
            return Err(broken("a chunk has at least one sentence (max_sentences)".to_owned()));
        }
        profile.splitter().map_err(|error| broken(error.to_string()))?;
        Ok(profile)
    }

    /// How sentences are found.
    ///
    /// # Errors
    ///
    /// [`crate::UnknownSplitter`], which a profile that was read never gives.
    pub fn splitter(&self) -> Result<SplitterName, crate::UnknownSplitter> {
        self.sentences.parse()
    }

    /// Whether a profile of this session, judged by `judge`, may be written to `path`: nothing lies there, or a profile
    /// of the same texts and the same judge.
    ///
    /// # Errors
    ///
    /// [`ProfileError::Taken`]
    pub fn check_place(path: &Path, session: &Session, judge: &str) -> Result<(), ProfileError> {
        let taken = |what| Err(ProfileError::Taken { path: path.to_owned(), what });
        if fs::symlink_metadata(path).is_err() {
            return Ok(());
        }
        let Ok(there) = Self::read(path) else { return taken("is there and is no profile") };
        let same = there.found.is_some_and(|found| {
            let names = found.texts.iter().map(|text| &text.name);
            found.judge.split(", ").any(|name| name == judge) && names.eq(session.texts.iter().map(|text| &text.name))
        });
        if same { Ok(()) } else { taken("was found on other texts or by another judge") }
    }

    /// Writes the profile, and makes the folder it is to lie in; an older one is replaced as a whole.
    ///
    /// # Errors
    ///
    /// [`ProfileError::Write`]
    pub fn write(&self, path: &Path) -> Result<(), ProfileError> {
        let write = || {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            fs::create_dir_all(folder)?;
            let mut file = NamedTempFile::new_in(folder)?;
            let text = toml::to_string(self).map_err(io::Error::other)?;
            writeln!(file, "# A threshold found by tuning. Chunk with it: horchunk chunk --profile NAME FILE\n")?;
            file.write_all(text.as_bytes())?;
            readable_as(&file, path)?;
            file.persist(path).map(drop).map_err(|error| error.error)
        };
        write().map_err(|source| ProfileError::Write { path: path.to_owned(), source })
    }

    /// Checks that the threshold was found with this model, known by the hash of its weights and its prefix.
    ///
    /// # Errors
    ///
    /// [`ProfileError::Model`]
    pub fn check_model(&self, model: &str, sha256: &str, text_prefix: &str) -> Result<(), ProfileError> {
        let described = |name: &str, sha256: &str, prefix: &str| {
            let prefix = if prefix.is_empty() { String::new() } else { format!(", text prefix {prefix:?}") };
            format!("{name} (weights {}{prefix})", sha256.get(..8).unwrap_or(sha256))
        };
        if (self.model_sha256.as_str(), self.text_prefix.as_str()) == (sha256, text_prefix) {
            return Ok(());
        }
        Err(ProfileError::Model {
            profile: described(&self.model, &self.model_sha256, &self.text_prefix),
            model: described(model, sha256, text_prefix),
        })
    }
}

/// Temporary files are for their owner only; a profile is as open as the one it replaces, or as any new file.
#[cfg(unix)]
fn readable_as(file: &NamedTempFile, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let there = fs::metadata(path).map(|data| data.permissions());
    file.as_file().set_permissions(there.unwrap_or_else(|_| fs::Permissions::from_mode(0o644)))
}

#[cfg(not(unix))]
fn readable_as(_: &NamedTempFile, _: &Path) -> io::Result<()> {
    Ok(())
}

/// As a person writes it: 0.68, where the nearest number of twice the length is 0.6800000071525574.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn short<S: Serializer>(value: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(value.to_string().parse().unwrap_or_else(|_| f64::from(*value)))
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn short_option<S: Serializer>(value: &Option<f32>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => short(value, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests;
