//! The laws of the registry, and facts that should be looked at again.

use time::Date;

use super::{BUNDLED, INSIDE_NAME, Llm, LlmRegistry, RegistryError, file};

/// What a check found: a law that is broken, or a fact to look at again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistryFinding {
    /// The model or tokenizer.
    pub id: String,
    /// The field.
    pub field: &'static str,
    /// What is wrong, with the figures.
    pub message: String,
}

impl std::fmt::Display for RegistryFinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}: {}", self.id, self.field, self.message)
    }
}

impl LlmRegistry {
    /// Days after which a fact should be looked at again.
    pub const FRESH_DAYS: i64 = 180;

    /// The laws that rows in TOML break, the order and double rows included, and tokenizers that no model has.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Row`] for rows that cannot be read at all.
    pub fn broken_laws(place: &str, rows: &str) -> Result<Vec<RegistryFinding>, RegistryError> {
        let rows = file::Rows::read(place, rows)?;
        let mut registry = Self::default();
        let problems = registry.add_all(&rows);
        let mut found: Vec<_> = problems.into_iter().map(|problem| problem.finding).collect();
        found.extend(rows.out_of_order());
        let unused = registry.tokenizers.keys().filter(|id| registry.models().all(|model| model.tokenizer != **id));
        found.extend(unused.map(|id| RegistryFinding {
            id: id.clone(),
            field: "tokenizer",
            message: "no model has it".to_owned(),
        }));
        Ok(found)
    }

    /// The laws that the rows inside break: none.
    ///
    /// # Errors
    ///
    /// As [`Self::broken_laws`].
    pub fn broken_bundled_laws() -> Result<Vec<RegistryFinding>, RegistryError> {
        Self::broken_laws(INSIDE_NAME, BUNDLED)
    }

    /// Facts that were looked at more than [`Self::FRESH_DAYS`] before `today`.
    #[must_use]
    pub fn stale(&self, today: Date) -> Vec<RegistryFinding> {
        let days = |model: &Llm| (today - model.date).whole_days();
        let stale = self.models().filter(|model| days(model) > Self::FRESH_DAYS);
        stale
            .map(|model| RegistryFinding {
                id: model.id.clone(),
                field: "date",
                message: format!("looked at on {}, {} days ago; see {}", model.date, days(model), model.source),
            })
            .collect()
    }

    /// Facts that `other` has otherwise, of the models that both know.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<RegistryFinding> {
        let mut found = Vec::new();
        for ours in self.models() {
            let Ok(theirs) = other.find(&ours.id) else { continue };
            let sizes = [
                ("context", ours.context, theirs.context),
                ("max_output", ours.max_output, theirs.max_output),
                ("reserve", ours.reserve, theirs.reserve),
            ];
            let mut say = |field, message| found.push(RegistryFinding { id: ours.id.clone(), field, message });
            for (field, ours, theirs) in sizes.into_iter().filter(|(_, ours, theirs)| ours != theirs) {
                say(field, format!("{ours} here, {theirs} there"));
            }
            let place = |registry: &Self, model| registry.tokenizer(model).map(|tokenizer| tokenizer.place.clone());
            if place(self, ours) != place(other, theirs) {
                say("tokenizer", format!("{} here, {} there", ours.tokenizer, theirs.tokenizer));
            }
        }
        found
    }

    /// What of a model breaks a law of its own or of its company.
    pub(super) fn flaws(&self, model: &Llm) -> Vec<(&'static str, String)> {
        let mut flaws = Vec::new();
        let names = || [&model.id].into_iter().chain(&model.aliases);
        for name in names() {
            let field = if *name == model.id { "id" } else { "aliases" };
            if name.trim().is_empty() || *name != name.to_lowercase() || name.chars().any(char::is_whitespace) {
                flaws.push((field, format!("{name:?} is no name in lower case without spaces")));
            }
            let others = self.models().filter(|other| other.id != model.id);
            if let Some(other) = others.into_iter().find(|other| other.id == *name || other.aliases.contains(name)) {
                flaws.push((field, format!("{name:?} is a name of {} too", other.id)));
            }
            if names().filter(|other| *other == name).count() > 1 {
                flaws.push((field, format!("{name:?} is there twice")));
            }
        }
        if !self.tokenizers.contains_key(&model.tokenizer) {
            flaws.push(("tokenizer", format!("there is no tokenizer {:?}", model.tokenizer)));
        }
        if model.reserve >= model.context {
            flaws.push(("reserve", format!("{} leaves nothing of a context of {}", model.reserve, model.context)));
        }
        if model.max_output > model.context {
            flaws.push(("max_output", format!("{} is over the context of {}", model.max_output, model.context)));
        }
        if model.provider.trim().is_empty() {
            flaws.push(("provider", "is empty".to_owned()));
        }
        if !model.source.starts_with("https://") && !model.source.starts_with("http://") {
            flaws.push(("source", format!("{:?} is no address", model.source)));
        }
        flaws
    }
}
