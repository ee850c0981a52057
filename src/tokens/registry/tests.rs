use time::{Date, Month};

use super::*;

const ROW: &str = "[[tokenizer]]\nid = \"t\"\nkind = \"tiktoken\"\nencoding = \"cl100k_base\"\n\n[[model]]\nid = \"m\"\n\
    aliases = [\"other-m\"]\nprovider = \"us\"\ncontext = 100\nmax_output = 50\ntokenizer = \"t\"\nreserve = 20\n\
    source = \"https://example.org\"\ndate = \"2026-11-30\"\n";

fn with(row: &str, from: &str, to: &str) -> String {
    assert!(row.contains(from), "{from}");
    row.replace(from, to)
}

#[test]
fn the_registry_inside_keeps_every_law() {
    assert_eq!(LlmRegistry::broken_bundled_laws().unwrap(), []);
    let registry = LlmRegistry::bundled();
    let mut providers: Vec<&str> = registry.models().map(|model| model.provider.as_str()).collect();
    providers.sort_unstable();
    providers.dedup();
    assert!(registry.models().count() >= 90 && providers.len() >= 15, "{providers:?}");
    for model in registry.models() {
        assert!(model.budget(None).unwrap() > 0);
        assert!(registry.counter(model, true).is_ok());
        for name in [&model.id].into_iter().chain(&model.aliases) {
            assert_eq!(registry.find(&name.to_uppercase()).unwrap().id, model.id);
        }
    }
}

#[test]
fn factors_are_those_that_were_measured() {
    let rows = include_str!("../../../models/proxies.csv").lines().skip(1);
    let registry = LlmRegistry::bundled();
    let mut seen = 0;
    for row in rows {
        let fields: Vec<&str> = row.split(',').collect();
        let [tokenizer, _, language, _, tokens, o200k, cl100k] = fields[..] else { panic!("{row}") };
        let proxy = registry.tokenizers[tokenizer].proxy.unwrap();
        let of_proxy: f64 = if proxy.encoding == TiktokenEncoding::O200kBase { o200k } else { cl100k }.parse().unwrap();
        let ratio = tokens.parse::<f64>().unwrap() / of_proxy;
        assert!(ratio <= proxy.factor && proxy.measured, "{tokenizer}, {language}: {ratio}");
        seen += 1;
    }
    assert!(seen > 200);
}

#[test]
fn rows_add_to_a_registry_and_replace_what_has_their_id() {
    let mut registry = LlmRegistry::bundled();
    let before = registry.models().count();
    registry.add_rows("mine.toml", ROW).unwrap();
    assert_eq!(registry.find("OTHER-M").unwrap().budget(None).unwrap(), 80);
    registry.add_rows("mine.toml", &with(ROW, "reserve = 20", "reserve = 30")).unwrap();
    assert_eq!((registry.find("m").unwrap().reserve, registry.models().count()), (30, before + 1));
    let mut own = registry.find("m").unwrap().clone();
    own.id = "own".to_owned();
    assert!(registry.add(own.clone()).unwrap_err().to_string().contains("\"other-m\" is a name of m too"));
    own.aliases.clear();
    registry.add(own).unwrap();
    assert_eq!(registry.find("own").unwrap().context, 100);
}

#[test]
fn a_mistake_is_named_by_line_and_field() {
    let name = |rows: &str| LlmRegistry::bundled().add_rows("mine.toml", rows).unwrap_err().to_string();
    for (from, to, line, part) in [
        ("context = 100", "contxt = 100", 10, "unknown field `contxt`"),
        ("context = 100", "context = \"many\"", 10, "expected usize"),
        ("context = 100\n", "", 6, "missing field `context`"),
        ("reserve = 20", "reserve = 100", 7, "m: reserve: 100 leaves nothing of a context of 100"),
        ("max_output = 50", "max_output = 500", 7, "m: max_output"),
        ("tokenizer = \"t\"", "tokenizer = \"x\"", 7, "m: tokenizer: there is no tokenizer \"x\""),
        ("other-m", "gpt-4o", 7, "m: aliases: \"gpt-4o\" is a name of gpt-4o too"),
        ("other-m", "Other-m", 7, "m: aliases"),
        ("https://example.org", "here", 7, "m: source"),
        ("2026-11-30", "2026-13-30", 7, "m: date: \"2026-13-30\" is no day"),
        ("cl100k_base", "cl1k", 2, "t: encoding: there is no token counter named \"cl1k\""),
        ("kind = \"tiktoken\"", "kind = \"file\"", 2, "t: hub: is missing"),
        ("kind = \"tiktoken\"", "kind = \"unpublished\"", 2, "t: proxy: is missing"),
        ("kind = \"tiktoken\"", "kind = \"guess\"", 3, "unknown variant `guess`"),
        ("[[model]]", "[[model]", 6, ""),
    ] {
        let said = name(&with(ROW, from, to));
        assert!(said.starts_with(&format!("mine.toml, line {line}: ")) && said.contains(part), "{said}");
    }
    let mut registry = LlmRegistry::bundled();
    let before = registry.models().count();
    let two = format!("{ROW}{}", with(&ROW[ROW.find("[[model]]").unwrap()..], "\"m\"", "\"n\""));
    assert!(registry.add_rows("mine.toml", &two).is_err(), "both have the same alias");
    assert_eq!(registry.models().count(), before, "nothing is added by half");
}

#[test]
fn a_name_that_nobody_knows_is_an_error_with_those_that_are_near() {
    let registry = LlmRegistry::bundled();
    let said = registry.find("gtp-4o").unwrap_err().to_string();
    assert!(said.contains("near to it are") && said.contains("gpt-4o"), "{said}");
    let said = registry.find("!").unwrap_err().to_string();
    assert!(!said.contains("near"), "{said}");
}

#[test]
fn a_tokenizer_that_must_be_fetched_is_not_replaced_unasked() {
    let registry = LlmRegistry::bundled();
    let model = registry.models().find(|model| model.tokenizer == "qwen-3").unwrap();
    let said = registry.counter(model, false).err().unwrap().to_string();
    assert!(said.contains("--tokens") && said.contains("--allow-proxy") && said.contains("Qwen/"), "{said}");
    let counter = registry.counter(model, true).unwrap();
    assert!(!counter.is_exact() && counter.name() == "cl100k_base*1.02");
    let unpublished = registry.models().find(|model| model.tokenizer == "claude-3").unwrap();
    assert!(!registry.counter(unpublished, false).unwrap().is_exact());
}

#[test]
fn a_reserve_that_leaves_nothing_is_an_error() {
    let model = LlmRegistry::bundled().find("gpt-4o-mini").unwrap().clone();
    assert!(model.budget(Some(128_000)).is_err() && model.budget(Some(usize::MAX)).is_err());
    assert_eq!(model.budget(Some(127_999)).unwrap(), 1);
}

#[test]
fn old_facts_and_other_facts_are_found() {
    let mut registry = LlmRegistry::default();
    registry.add_rows("mine.toml", ROW).unwrap();
    let day = |month, day| Date::from_calendar_date(2027, month, day).unwrap();
    assert_eq!(registry.stale(day(Month::May, 29)), []);
    assert_eq!(registry.stale(day(Month::May, 30)).len(), 1);
    let mut other = registry.clone();
    assert_eq!(registry.differences(&other), []);
    other.add_rows("theirs.toml", &with(ROW, "context = 100", "context = 200")).unwrap();
    let found = registry.differences(&other);
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), ["m: context: 100 here, 200 there"]);
}

#[test]
fn rows_out_of_order_and_idle_tokenizers_are_found() {
    let model = &ROW[ROW.find("[[model]]").unwrap()..];
    let rows = format!(
        "{ROW}{}[[tokenizer]]\nid = \"a\"\nkind = \"unpublished\"\nproxy = \"cl100k_base\"\nfactor = 2.0\n",
        with(&with(model, "\"m\"", "\"a\""), "other-m", "other-a")
    );
    let found = LlmRegistry::broken_laws("mine.toml", &rows).unwrap();
    let said: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "a: id: stands behind t; rows are sorted, each id once",
            "a: id: stands behind m; rows are sorted, each id once",
            "a: tokenizer: no model has it"
        ]
    );
}
