//! Abbreviations written with a full stop, by what they do to the sentence around them.
//!
//! Without the last full stop; a space inside one is left out. In small letters, any spelling counts; an entry with
//! a capital is a word of its own in small letters, so that only the capital shows the abbreviation. Single letters,
//! and letters with full stops between them, need no entry, being known by their shape, and neither do those that
//! come before a small letter, where no full stop ends a sentence. Those that end a sentence as often as any word
//! (`etc.`, `usw.`) have none either.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What an abbreviation does to the sentence around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Abbreviation {
    /// It leads to another word and ends no sentence.
    Leads,
    /// It leads to a number, and is a plain word before anything else.
    Numbers,
    /// A time of day or an era.
    Times,
    /// It follows another word and may end a sentence.
    Trails,
}

/// What kind of abbreviation `word` is, if one. Of a word with a hyphen or a slash the last part counts, too.
pub(super) fn abbreviation(word: &str) -> Option<Abbreviation> {
    find(word).or_else(|| {
        let (_, part) = word.rsplit_once(['-', '/', '.', '='])?;
        if part.chars().count() > 1 { find(part) } else { None }
    })
}

/// Whether `word` names a day, a month or a zone in English, as it stands behind a time of day.
pub(super) fn is_calendar(word: &str) -> bool {
    CALENDAR.binary_search(&word).is_ok()
}

#[rustfmt::skip]
const CALENDAR: &[&str] = &[
    "April", "August", "Central", "December", "Eastern", "February", "Friday", "Greenwich", "January", "July", "June",
    "March", "May", "Monday", "Mountain", "November", "October", "Pacific", "Saturday", "September", "Sunday",
    "Thursday", "Tuesday", "Wednesday",
];

/// Whether `word` is short for a month or a day of the week, in any spelling.
pub(super) fn is_date_part(word: &str) -> bool {
    let mut letters = word.chars();
    let great: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    word.chars().count() <= 4 && abbreviation(&great) == Some(Abbreviation::Trails)
}

fn find(word: &str) -> Option<Abbreviation> {
    let known = |word: &str| KINDS.get(word).copied();
    if !word.contains(char::is_uppercase) {
        return known(word);
    }
    let small = word.to_lowercase();
    let great: String = word.chars().take(1).chain(small.chars().skip(1)).collect();
    known(&small).or_else(|| known(&great))
}

/// The tables in one.
static KINDS: LazyLock<HashMap<&str, Abbreviation>> = LazyLock::new(|| {
    let tables = [
        (LEADS, Abbreviation::Leads),
        (NUMBERS, Abbreviation::Numbers),
        (TIMES, Abbreviation::Times),
        (TRAILS, Abbreviation::Trails),
    ];
    tables.into_iter().flat_map(|(table, kind)| table.iter().map(move |&word| (word, kind))).collect()
});

/// Whether `word` is a month's name, or a noun that takes an ordinal, of a language that capitalises it and writes
/// ordinals with a full stop.
pub(super) fn is_month(word: &str) -> bool {
    MONTHS.binary_search(&word.to_lowercase().as_str()).is_ok()
}

#[rustfmt::skip]
const MONTHS: &[&str] = &[
    "april", "apríl", "apríla", "august", "augusta", "december", "decembra", "dezember", "februar", "február",
    "februára", "jahrhundert", "jahrhunderts", "januar", "január", "januára", "juli", "juni", "jänner", "júl", "júla",
    "jún", "júna", "mai", "marca", "marec", "máj", "mája", "märz", "november", "novembra", "oktober", "október",
    "októbra", "september", "septembra",
];

/// They lead to another word, so that none ends a sentence: titles, `e.g.`, `vs.`, `z. B.`
#[rustfmt::skip]
const LEADS: &[&str] = &[
    "Adm", "Amb", "Arch", "Br", "Brig", "Bro", "Capt", "Col", "Comm", "Dir", "Ed", "Fr", "Ft", "Gen", "Gov", "Hon",
    "Hr", "Ing", "Maj", "Ms", "Mt", "Pres", "Rep", "Reps", "Rev", "Sen", "Sens", "Sta", "Ste", "Sto", "Ud", "Uds",
    "Vd", "Vds", "Ven", "aanw", "adj", "admón", "adv", "akad", "apdo", "approx", "asst", "atte", "atty", "av", "avg",
    "avv", "b.v", "bc", "bijv", "bijvnw", "bl", "bl.a", "bspw", "bto", "bzgl", "bzw", "c.-à-d", "c.q", "c.à.d", "ca",
    "cand", "cav", "cca", "cdr", "cf", "cfr", "cllr", "cmdr", "comdr", "cpl", "cía", "d-r", "d-ra", "d.h", "d.i",
    "d.w.z", "d.ª", "dergl", "dgl", "dh", "dhr", "dipl", "dipl.-ing", "dn", "dott", "dpto", "dptos", "dr", "dra",
    "drs", "dvs", "dyr", "dña", "e.d", "e.g", "edo", "eds", "eg", "egr", "ehem", "einschl", "ej", "eks", "ekskl",
    "env", "esp", "evang", "evtl", "ewent", "excl", "excma", "excmo", "exkl", "f.eks", "fam", "fhv", "frk", "frl",
    "geb", "gegr", "geom", "ggf", "ggfs", "gl", "godz", "govt", "gr", "gral", "habil", "hhv", "hl", "hrsg", "i.a",
    "i.d.r", "i.e", "i.p.v", "i.v", "i.v.m", "ie", "ier", "iflg", "illmo", "ilma", "ilmo", "incl", "indkl", "inkl",
    "insb", "insbes", "insp", "intl", "inż", "ital", "j.m", "jf", "jhdt", "jhr", "jkvr", "jud", "judr", "jur", "kard",
    "kath", "kbh", "kgl", "kol", "kpt", "ks", "kt", "ktr", "lat", "ldr", "lek", "lfd", "lic", "lt", "ltc", "m.b.t",
    "m.fl", "m.in", "m.j", "m.n", "m.u.v", "m.v", "med", "mej", "messrs", "mevr", "mgr", "mht", "mio", "mj", "mjr",
    "mlle", "mlles", "mme", "mmes", "mr", "mrd", "mrs", "msgr", "mtn", "mtra", "mtro", "mudr", "mvdr", "mw", "mx",
    "n.a.v", "n.m", "n.p", "nachm", "napr", "např", "nat", "ndlr", "ndr", "norw", "np", "npor", "nám", "o.a", "o.g",
    "o.i", "o.i.d", "o.s", "o.ä", "onor", "p.ej", "p.es", "p.g.a", "p.i", "p.n", "p.o", "paeddr", "pbro", "pdta",
    "pdte", "pga", "pharmdr", "phdr", "pl", "plk", "pplk", "ppor", "prap", "prof", "profs", "prok", "przew", "przyp",
    "prím", "psicol", "psych", "pta", "pvt", "płk", "r.č", "rel", "rer", "resp", "rndr", "roč", "rt", "rtd", "rte",
    "rtm", "rvdo", "réf", "s.o", "s.u", "schwed", "schweiz", "sgt", "sierż", "sig", "sigg", "skt", "sml", "sog",
    "spett", "spez", "sra", "sres", "srita", "srs", "srta", "st", "stk", "str", "supt", "sv", "sydl", "súkr", "südl",
    "t.a.v", "t.b.v", "t.g.v", "t.j", "t.o.v", "t.č", "tdl", "theol", "tidl", "tj", "tlf", "tyt", "tzn", "tzv", "tzw",
    "tägl", "türk", "u.a", "u.u", "u.ä", "ugs", "ul", "ungar", "univ", "unverb", "urspr", "v", "v.a", "v.cte", "v.r",
    "vda", "vedr", "vejl", "verh", "versch", "vgl", "viz", "vorm", "vs", "vve", "vyd", "wg", "wiel", "wiss", "woj",
    "współ", "z.b", "z.g", "z.s.m", "z.t", "z.z", "z.zt", "zast", "zgn", "zit", "zob", "zw", "zzgl", "éd", "éds",
    "öffentl", "österr", "österr.-ung", "østl", "čl", "čs", "św", "ż.d", "živ", "αγ", "βλ", "δίδα", "δηλ", "δρ",
    "κ.ά.α", "κ.α", "κ.κ", "κα", "καθ", "κος", "λ.χ", "λεωφ", "οδ", "π.χ", "πρβλ", "στρ", "τηλ", "υπ", "акад", "англ",
    "бл", "бул", "вид", "вкл", "вул", "г-ж", "г-жа", "г-н", "г-на", "г-ца", "гг", "ген", "гл", "гл.обр", "гос", "гр",
    "губ", "д", "д-р", "д-ра", "д.т.н", "дер", "див", "дир", "до.н.э", "доц", "ж.к", "жен", "журн", "зав", "зам",
    "зд", "изд", "им", "ин", "ин-т", "инж", "исп", "к-т", "к.м.н", "к.т.н", "канд", "кап", "кв", "кн", "кн-во", "кол",
    "комп", "куб", "л-т", "лат", "лит", "мин-во", "митр", "муж", "мыр", "н.э", "наб", "наз", "напр", "нар", "наук",
    "нач", "нем", "о-в", "обл", "обл-ть", "оз", "отв", "отд", "п", "п-ов", "п.п", "пгт", "пер", "пл", "полк", "пом",
    "пос", "пр-т", "преп", "прим", "пров", "просп", "проф", "р-н", "р-ну", "ред", "респ", "род", "рос", "рук", "руч",
    "с", "с.г", "с.х", "сб", "св", "св.кн", "сев", "соавт", "сокр", "соц", "соч", "ср", "ст-ца", "стр-во", "т",
    "т.б.а", "т.е", "т.зв", "т.зн", "т.к", "т.н", "т.наз", "т.нар", "т.о", "т.ч", "тел", "тех", "тзн", "тов", "укр",
    "ул", "ум", "ун-т", "упр", "урожд", "фам", "физ", "франц", "х-во", "хоз", "чл", "чл.-кор", "экз", "ім", "أ",
    "أ.د", "ا.د", "د", "م", "इं", "एड", "कु", "कै", "डॉ", "पं", "प्रा", "प्रो", "लेफ", "श्री", "सौ", "स्व",
];

/// They lead to a number; before anything else they are plain words: `No. 5`, `S. 12`, `Fig. 2`.
#[rustfmt::skip]
const NUMBERS: &[&str] = &[
    "abb", "abs", "abschn", "afb", "afsn", "anm", "app", "appt", "apt", "art", "arts", "artículo", "bd", "bde",
    "bldg", "blz", "cap", "ch", "chap", "chs", "cp", "cra", "eq", "eqs", "ex", "ext", "fascic", "fig", "figs", "fol",
    "hfst", "hoofdst", "illus", "kap", "kapitel", "kl", "ln", "n", "nbr", "no", "nos", "nr", "nrs", "num", "n°", "nº",
    "núm", "núms", "obr", "odst", "p", "pag", "pagg", "para", "paras", "pg", "pgs", "pkt", "plt", "poz", "pp", "ps",
    "pt", "pts", "pág", "págs", "párr", "párrf", "písm", "rdnr", "ref", "refs", "rn", "rnd", "rozdz", "ryc", "rys",
    "sc", "sec", "secs", "sect", "sez", "tab", "tabl", "taf", "tav", "tbl", "tel", "tfno", "tom", "tomo", "ts", "tél",
    "ust", "ver", "vol", "vols", "ziff", "zv", "zz", "§", "§§", "č", "čís", "αρ", "εικ", "κεφ", "πίν", "παρ", "σελ",
    "σσ", "τομ", "вып", "ил", "илл", "корп", "ном", "оф", "пп", "разд", "рис", "стор", "стр", "табл", "тт", "आ",
    "क्र", "पृ", "सं", "№",
];

/// Times of day and eras, which may end a sentence, too.
const TIMES: &[&str] = &["a.d", "a.m", "b.c", "b.c.e", "c.e", "p.m"];

/// They follow another word and may end a sentence, which shows in the word behind: `Inc.`, `p.m.`, months.
#[rustfmt::skip]
const TRAILS: &[&str] = &[
    "Abr", "Ago", "Apr", "Aug", "Avr", "Dec", "Dez", "Dic", "Dom", "Déc", "Ene", "Feb", "Fri", "Gio", "Giu", "Jan",
    "Jue", "Jul", "Jun", "Lug", "Lun", "Mar", "Mié", "Mon", "Nov", "Oct", "Okt", "Ott", "Sat", "Sep", "Set", "Sun",
    "Wed", "a.g", "a.s", "acad", "al", "assn", "assoc", "ave", "b.a", "b.s", "b.sc",
    "bldgs", "blvd", "bros", "cie", "co", "corp", "cos", "cpa", "ct", "d.c", "d.d.s", "d.phil", "dept", "dist",
    "div", "e.u", "e.v", "esq", "est", "fl", "févr", "g.m.b.h", "gmbh", "hrs", "inc", "inst", "janv", "jr", "juil",
    "jän", "l.l.c", "l.p", "lb", "lbs", "llc", "ltd", "ltda", "m.a", "m.b.a", "m.d", "m.s", "m.sc", "mbh", "mfg",
    "min", "mins", "mrz", "mär", "n.a", "n.v", "natl", "okt", "oz", "p.l.c", "p.s", "ph.d", "pkwy", "plc",
    "pty", "r.i.p", "rd", "s.a", "s.a.s", "s.l", "s.p.a", "s.r.l", "s.r.l.s", "s.r.o", "sept", "soc", "sp", "sq",
    "sr", "styczn", "sté", "sáb", "thu", "thur", "thurs", "tue", "tues", "u.k", "u.n", "u.s", "u.s.a", "u.s.s.r",
    "vie", "wk", "yr", "yrs", "z.o.o",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_unique_spelt_alike_and_disjoint() {
        for table in [LEADS, NUMBERS, TRAILS, MONTHS] {
            assert!(table.windows(2).all(|pair| pair[0] < pair[1]), "{table:?}");
            assert!(table.iter().all(|word| !word.contains(' ')
                && !word.ends_with('.')
                && word.chars().skip(1).all(|c| !c.is_uppercase())));
        }
        assert!(LEADS.iter().all(|word| !NUMBERS.contains(word) && !TRAILS.contains(word)));
        assert!(NUMBERS.iter().all(|word| !TRAILS.contains(word)));
    }

    #[test]
    fn case_and_compounds_do_not_hide_an_abbreviation() {
        assert_eq!(abbreviation("DR"), Some(Abbreviation::Leads));
        assert_eq!(abbreviation("Ex-Gen"), Some(Abbreviation::Leads));
        assert_eq!(abbreviation("fig"), Some(Abbreviation::Numbers));
        assert_eq!(abbreviation("Corp"), Some(Abbreviation::Trails));
        assert_eq!(abbreviation("corpse"), None);
    }
}
