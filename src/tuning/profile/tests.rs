use tempfile::TempDir;

use super::*;

const PROFILE: &str =
    "threshold = 0.68\nmax_sentences = 4\nsentences = \"rule\"\nmodel = \"m\"\nmodel_sha256 = \"00ff\"\n";

#[test]
fn every_shipped_profile_is_one_of_the_bundled_model_with_its_session() {
    let names: Vec<&str> = Profile::shipped().collect();
    assert!(names.is_sorted() && !names.is_empty());
    for name in names {
        let profile = Profile::find(name, &[]).unwrap();
        let sums = include_str!("../../../models/all-minilm-l6-v2/SHA256SUMS");
        assert!(sums.contains(&format!("{}  model.safetensors", profile.model_sha256)), "{name}");
        let found = profile.found.unwrap();
        assert_eq!(profile.threshold.to_bits(), cut_down(found.threshold).to_bits(), "{name}");
        let session = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tuning/{name}.session.json"));
        let session = Session::read(&session).unwrap();
        assert_eq!((session.judges(), session.judgements().len()), (found.judge, found.verdicts), "{name}");
        let agreement = super::super::Agreement::with(found.threshold, &session.judgements());
        assert_eq!(agreement.fitting, found.fitting, "{name}");
        for text in &found.texts {
            let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&text.name)).unwrap();
            assert_eq!(*text, TextStamp::new(text.name.as_str(), &source), "{name}: the text is another one now");
        }
    }
}

#[test]
fn a_profile_is_found_by_path_then_in_folders_then_inside() {
    let folder = TempDir::new().unwrap();
    let (near, far) = (folder.path().join("near"), folder.path().join("far"));
    let mut profile = Profile::parse(PROFILE, "x").unwrap();
    profile.write(&far.join("a.toml")).unwrap();
    profile.write(&far.join("prose.toml")).unwrap();
    profile.max_sentences = 5;
    profile.write(&near.join("a.toml")).unwrap();
    let folders = [near, far.clone()];
    assert_eq!(Profile::find("a", &folders).unwrap().max_sentences, 5);
    assert_eq!(Profile::find("prose", &folders).unwrap().max_sentences, 4);
    assert_eq!(Profile::find(far.join("a.toml").to_str().unwrap(), &folders).unwrap().max_sentences, 4);
    assert_ne!(Profile::find("prose", &[]).unwrap().model, "m");
    let error = Profile::find("nothing", &folders).unwrap_err().to_string();
    assert!(error.contains("near") && error.contains("prose"), "{error}");
}

#[test]
fn a_profile_is_written_as_a_person_would() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.toml");
    let mut profile = Profile::parse(PROFILE, "x").unwrap();
    profile.found = Some(Provenance {
        threshold: 0.683_170_2,
        judge: "person".to_owned(),
        date: today(),
        depth: 3,
        verdicts: 10,
        fitting: 9,
        lowest_holding: Some(0.68),
        highest_drifting: None,
        spread: None,
        texts: vec![TextStamp { name: "a \"b\"\n.md".to_owned(), sha256: "11".to_owned() }],
    });
    profile.write(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("threshold = 0.68\n") && text.contains("threshold = 0.6831702\n"), "{text}");
    assert_eq!(Profile::read(&path).unwrap(), profile);
}

#[test]
fn what_is_no_profile_says_what_is_wrong() {
    let broken = [
        ("", "threshold"),
        ("threshold = \"high\"", "threshold"),
        (&PROFILE.replace("0.68", "1.5"), "between -1 and 1"),
        (&PROFILE.replace("0.68", "nan"), "between -1 and 1"),
        (&PROFILE.replace("= 4", "= 0"), "max_sentences"),
        (&PROFILE.replace("rule", "ruler"), "ruler"),
        (&format!("{PROFILE}alpha = 3\n"), "alpha"),
    ];
    for (text, word) in broken {
        let error = Profile::parse(text, "a.toml").unwrap_err().to_string();
        assert!(error.starts_with("a.toml is no profile") && error.contains(word) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn another_model_is_refused() {
    let profile = Profile::parse(PROFILE, "x").unwrap();
    profile.check_model("anything", "00ff", "").unwrap();
    assert!(matches!(profile.check_model("m", "00fe", ""), Err(ProfileError::Model { .. })));
    assert!(matches!(profile.check_model("m", "00ff", "query: "), Err(ProfileError::Model { .. })));
}

#[test]
fn nothing_is_replaced_but_a_profile_of_the_same_texts_and_judge() {
    let folder = TempDir::new().unwrap();
    let (path, other) = (folder.path().join("a.toml"), folder.path().join("b.md"));
    let session = Path::new(env!("CARGO_MANIFEST_DIR")).join("tuning/prose.session.json");
    let mut session = Session::read(&session).unwrap();
    Profile::check_place(&path, &session, "llm:claude").unwrap();
    Profile::find("prose", &[]).unwrap().write(&path).unwrap();
    Profile::check_place(&path, &session, "llm:claude").unwrap();
    let taken = |path: &Path, session: &Session, judge: &str| {
        matches!(Profile::check_place(path, session, judge), Err(ProfileError::Taken { .. }))
    };
    assert!(taken(&path, &session, "target:30"));
    session.texts[0].name = "other.md".to_owned();
    assert!(taken(&path, &session, "llm:claude"));
    fs::write(&other, "precious").unwrap();
    assert!(taken(&other, &session, "llm:claude") && taken(folder.path(), &session, "llm:claude"));
}
