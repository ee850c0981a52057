//! The session on the disk, and where the profile will go.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use horchunk::tuning::{Found, Profile, Session, SessionFile, Tuner, newest_session};

use super::KeepArgs;
use crate::cli::Usage;
use crate::cli::input::InputArgs;

/// Where the session lies.
pub(super) enum Place {
    /// It is to be begun here.
    New(PathBuf),
    /// It was begun before.
    Open(SessionFile, Box<Session>),
}

impl Place {
    /// What `--session` and `--resume` mean for these inputs.
    pub(super) fn find(args: &KeepArgs, input: &InputArgs) -> anyhow::Result<Self> {
        let folder = || {
            let folder = dirs::state_dir().or_else(dirs::data_local_dir).map(|state| state.join("horchunk"));
            folder.ok_or_else(|| Usage("there is no home folder to keep the session in: name a --session".to_owned()))
        };
        if !args.resume {
            return Ok(Self::New(match &args.session {
                Some(path) => path.clone(),
                None => new_name(&folder()?, input),
            }));
        }
        let path = if let Some(path) = &args.session {
            path.clone()
        } else {
            let folder = folder()?;
            let names: Vec<String> = input.paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
            newest_session(&folder, &absolute(&input.paths)).ok_or_else(|| {
                let about = if names.is_empty() { String::new() } else { format!(" about {}", names.join(", ")) };
                anyhow::anyhow!("there is no session{about} in {}: begin one without --resume", folder.display())
            })?
        };
        let (file, session) = SessionFile::open(path)?;
        Ok(Self::Open(file, Box::new(session)))
    }

    /// The texts' places, where the session knows them.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        if let Self::Open(_, session) = self { session.paths.clone() } else { Vec::new() }
    }
}

/// The paths as they are from everywhere; standard input stays what it is.
pub(super) fn absolute(paths: &[PathBuf]) -> Vec<PathBuf> {
    let absolute = |path: &PathBuf| match path.to_str() {
        Some("-") => path.clone(),
        _ => std::path::absolute(path).unwrap_or_else(|_| path.clone()),
    };
    paths.iter().map(absolute).collect()
}

/// A name that tells a person which session it is, and that no other has.
fn new_name(folder: &Path, input: &InputArgs) -> PathBuf {
    let stem = input.paths.first().and_then(|path| path.file_stem()).unwrap_or_default();
    let now = time::OffsetDateTime::now_utc();
    let (hour, minute, second) = now.to_hms();
    let name = format!("{}-{}-{hour:02}{minute:02}{second:02}", stem.to_string_lossy(), now.date());
    let names = (1..).map(|n| if n == 1 { format!("{name}.json") } else { format!("{name}-{n}.json") });
    let mut paths = names.map(|name| folder.join(name));
    paths.find(|path| fs::symlink_metadata(path).is_err()).unwrap_or_else(|| folder.join("session.json"))
}

/// A session and its file. A new one without any answer leaves nothing behind.
pub(crate) struct Keeper {
    file: SessionFile,
    pub(crate) session: Session,
    profile: PathBuf,
    name: String,
}

impl Keeper {
    pub(super) fn create(path: &Path, session: Session) -> anyhow::Result<Self> {
        Ok(Self::new(SessionFile::create(path, &session)?, session))
    }

    pub(super) fn new(file: SessionFile, session: Session) -> Self {
        let first = session.texts.first().map_or("", |text| text.name.as_str());
        let stem = Path::new(first).file_stem().map_or("text".into(), |stem| stem.to_string_lossy());
        let name = session.profile.clone().unwrap_or_else(|| stem.into_owned());
        Self { file, session, profile: Profile::place(&name), name }
    }

    /// Whether the profile can be written once it is found, before anybody judges for nothing.
    pub(super) fn check_profile(&self, judge: &str) -> anyhow::Result<()> {
        let stem = self.profile.file_stem().map(|stem| stem.to_string_lossy());
        if stem.is_none_or(|stem| stem.trim_matches(['.', ' ']).is_empty()) || self.name.ends_with(['/', '\\']) {
            return Err(Usage(format!("--profile {:?} is no name for a file", self.name)).into());
        }
        Profile::check_place(&self.profile, &self.session, judge).context("--profile")
    }

    /// Takes over what was answered, and has it on the disk before it returns. Where it cannot be written, the session
    /// stays as it is on the disk.
    pub(crate) fn record(&mut self, tuner: &Tuner, texts: &[&str], judge: &str) -> anyhow::Result<()> {
        let before = self.session.clone();
        self.session.record(tuner, texts, judge);
        let kept = self.keep();
        if kept.is_err() {
            self.session = before;
        }
        kept
    }

    pub(super) fn keep(&mut self) -> anyhow::Result<()> {
        Ok(self.file.save(&self.session)?)
    }

    /// Writes the profile; `None` where nothing was found.
    pub(crate) fn write_profile(&self, found: &Found) -> anyhow::Result<Option<&Path>> {
        let Some(profile) = Profile::new(&self.session, found) else { return Ok(None) };
        profile.write(&self.profile).context("the session is kept: --resume it with another --profile")?;
        Ok(Some(&self.profile))
    }

    /// Where the profile is written.
    pub(crate) fn profile(&self) -> &Path {
        &self.profile
    }

    /// What `chunk --profile` wants to hear.
    pub(crate) fn profile_name(&self) -> &str {
        &self.name
    }

    /// Where the session lies.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if self.session.answers.is_empty() && self.session.set_aside.is_empty() {
            let _ = fs::remove_file(self.file.path());
        }
    }
}

/// Where profiles are looked for by their name, the first first.
pub(crate) fn profile_folders() -> Vec<PathBuf> {
    let own = dirs::config_dir().map(|config| config.join("horchunk").join("tuning"));
    std::iter::once(PathBuf::from("tuning")).chain(own).collect()
}
