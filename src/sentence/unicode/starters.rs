//! Words that open sentences, and words that call for an ordinal.

/// Whether `word`, capitalised where it stands, is one that opens sentences far oftener than it names something.
pub(super) fn is_starter(word: &str) -> bool {
    lookup(STARTERS, word)
}

/// Whether an ordinal is due behind `word`: articles and prepositions of German, and their kin.
pub(super) fn is_determiner(word: &str) -> bool {
    lookup(DETERMINERS, word)
}

/// Whether `word` opens sentences as well as it joins a name (`R. De Niro`): behind an initial it proves nothing.
pub(super) fn is_particle(word: &str) -> bool {
    lookup(PARTICLES, word)
}

fn lookup(table: &[&str], word: &str) -> bool {
    word.len() <= 24 && table.binary_search(&word.to_lowercase().as_str()).is_ok()
}

#[rustfmt::skip]
const DETERMINERS: &[&str] = &[
    "am", "beim", "das", "dem", "den", "der", "des", "die", "ihr", "ihre", "im", "sein", "seine", "seinen", "vom", "zum", "zur",
];

#[rustfmt::skip]
const PARTICLES: &[&str] =
    &["al", "da", "dal", "de", "dei", "del", "della", "den", "der", "di", "do", "du", "el", "la", "las", "le", "los"];

/// Function words. Particles of names (`De`, `La`, `Van`), months and first names are left out on purpose.
#[rustfmt::skip]
const STARTERS: &[&str] = &[
    "a", "aber", "about", "aby", "af", "afin", "after", "again", "ahora", "ainsi", "aj", "ak", "ako", "aké", "aký",
    "albo", "ale", "alebo", "algunos", "all", "alla", "alle", "allora", "alors", "als", "also", "alt", "although",
    "among", "an", "anche", "ancora", "and", "another", "antes", "any", "anyway", "après", "aquí", "are", "as", "así",
    "at", "att", "au", "auch", "aucun", "auf", "aujourd", "aunque", "aus", "aussi", "aux", "avant", "avec",
    "beaucoup", "because", "before", "bei", "beide", "besides", "bez", "bij", "bis", "bo", "bol", "bola", "boli",
    "bolo", "both", "but", "by", "byl", "byla", "byli", "bylo", "can", "car", "ce", "ceci", "cela", "celle", "celui",
    "cependant", "certains", "ces", "cet", "cette", "chaque", "che", "chi", "ci", "co", "come", "comme", "comment",
    "con", "così", "could", "cuando", "cuál", "cuándo", "cuánto", "cómo", "damit", "dann", "dans", "das", "dass",
    "dat", "dem", "denn", "depuis", "derfor", "des", "desde", "deshalb", "despite", "después", "dessa", "desuden",
    "det", "deze", "did", "die", "dies", "diese", "dieser", "dieses", "disse", "dit", "dla", "dnes", "doch", "does",
    "dog", "donc", "donde", "door", "dopo", "dort", "dove", "durch", "during", "där", "dónde", "e", "each", "een",
    "efter", "ein", "eine", "einige", "ella", "elle", "eller", "elles", "ello", "ellos", "en", "enfin", "ensuite",
    "entonces", "entre", "er", "era", "es", "esa", "ese", "eso", "est", "esta", "estas", "este", "esto", "estos",
    "et", "even", "every", "few", "finally", "first", "for", "fra", "from", "från", "fu", "fue", "för", "før", "für",
    "gdy", "gdzie", "gibt", "ging", "gli", "ha", "haar", "hace", "hacia", "had", "ham", "han", "hanno", "hans", "har",
    "has", "hasta", "have", "hay", "he", "heeft", "hence", "hendes", "her", "here", "het", "heute", "hier", "hij",
    "his", "hoe", "hon", "hos", "how", "however", "hoy", "hun", "hur", "hvad", "hvem", "hver", "hvilken", "hvis",
    "hvor", "hvordan", "hvorfor", "här", "i", "ich", "if", "ihr", "ihre", "ik", "ikke", "il", "ils", "im", "immer",
    "in", "indeed", "inoltre", "instead", "inte", "invece", "io", "is", "ist", "it", "its", "jag", "jak", "jako",
    "je", "jede", "jeder", "jednak", "jedoch", "jeg", "jego", "jeho", "jej", "jest", "jetzt", "jeśli", "jeżeli",
    "jsou", "just", "już", "kan", "každý", "kde", "kdo", "když", "kein", "keine", "keď", "kiedy", "která", "který",
    "kto", "ktorý", "który", "kun", "last", "later", "lei", "len", "let", "leur", "leurs", "like", "loro", "lorsque",
    "luego", "lui", "lungo", "ma", "maar", "mais", "man", "mange", "many", "maybe", "meanwhile", "med", "men", "mens",
    "mentre", "met", "mi", "mientras", "mimo", "misschien", "mit", "molti", "moreover", "most", "może", "much",
    "muchos", "muy", "my", "más", "même", "na", "naar", "nach", "nada", "nebo", "nein", "neither", "nej", "nel",
    "nella", "never", "next", "ni", "nicht", "nie", "niet", "ningún", "no", "nobody", "noch", "nog", "nogle", "non",
    "nonetheless", "nor", "nos", "nosotros", "not", "nothing", "notre", "nous", "now", "nu", "nun", "nunca", "nur",
    "när", "når", "o", "ob", "och", "också", "od", "oder", "of", "often", "og", "oggi", "ogni", "også", "ohne", "om",
    "omdat", "on", "ona", "once", "ondanks", "one", "oni", "only", "onze", "ook", "op", "or", "oraz", "other", "otra",
    "otro", "ou", "our", "over", "où", "par", "para", "parce", "pendant", "per", "perché", "perciò", "perhaps",
    "pero", "però", "peut", "più", "please", "plusieurs", "po", "pod", "podle", "podľa", "poi", "pokud", "ponieważ",
    "por", "porque", "potem", "pour", "pourquoi", "pourtant", "pre", "preto", "pri", "prima", "pro", "proto",
    "protože", "przed", "przez", "przy", "puis", "puisque", "på", "před", "qual", "quale", "quand", "quando",
    "quanto", "quasi", "que", "quel", "quella", "quelle", "quello", "questa", "questi", "questo", "qui", "quindi",
    "quién", "quoi", "qué", "s", "sa", "sans", "schon", "se", "second", "secondo", "según", "sein", "seine", "seit",
    "selon", "sempre", "senza", "ser", "ses", "several", "she", "should", "si", "siden", "sie", "sin", "since",
    "sind", "sinds", "so", "sobre", "solo", "som", "some", "something", "sometimes", "son", "sono", "soon", "sopra",
    "sotto", "sous", "stato", "still", "su", "sua", "such", "suo", "sur", "sus", "så", "sí", "sú", "są", "ta", "tak",
    "také", "także", "takže", "también", "tampoco", "tandis", "te", "tegen", "ten", "tento", "teraz", "teď", "than",
    "thanks", "that", "the", "their", "then", "there", "therefore", "these", "they", "this", "those", "though",
    "through", "thus", "tiene", "tieto", "tijdens", "til", "to", "toch", "today", "todo", "todos", "toen", "together",
    "tomorrow", "too", "toto", "tous", "tout", "toute", "toutefois", "toutes", "tra", "tras", "trotz", "très", "tu",
    "tutti", "tutto", "two", "ty", "tylko", "uden", "uit", "un", "una", "und", "under", "une", "unlike", "uno",
    "unser", "until", "usted", "v", "vad", "var", "varför", "ve", "ved", "vi", "viac", "viele", "vielleicht", "vo",
    "voici", "voilà", "volgens", "vom", "voor", "vor", "votre", "vous", "vy", "však", "w", "waar", "waarom", "wann",
    "wanneer", "want", "warum", "was", "wat", "we", "wegen", "weil", "wel", "welke", "wenn", "wer", "were", "what",
    "when", "where", "whether", "which", "while", "who", "whose", "why", "wie", "wij", "wir", "with", "within",
    "without", "więc", "wo", "would", "wszyscy", "ya", "yes", "yesterday", "yet", "yo", "you", "your", "z", "za",
    "ze", "zij", "zijn", "zo", "zu", "zudem", "zum", "zur", "zwar", "zwei", "à", "är", "è", "él", "że", "že", "έτσι",
    "ή", "αλλά", "αλλα", "αν", "αυτά", "αυτή", "αυτό", "αυτός", "για", "γιατί", "δεν", "είναι", "ενώ", "επίσης", "η",
    "θα", "κάθε", "και", "με", "μετά", "μια", "μόνο", "να", "ο", "οι", "πού", "πρέπει", "πριν", "πως", "πώς", "σε",
    "στα", "στη", "στην", "στις", "στο", "στον", "στους", "τα", "την", "της", "τι", "τις", "το", "τον", "του", "τους",
    "των", "υπάρχει", "ως", "όμως", "όπως", "όταν", "а", "або", "аз", "але", "без", "був", "була", "були", "було",
    "был", "была", "были", "в", "вам", "вас", "ваш", "весь", "ви", "вие", "во", "вона", "вони", "воно", "вот", "все",
    "всё", "във", "вы", "від", "він", "где", "да", "даже", "де", "для", "до", "его", "ее", "если", "есть", "еще",
    "ещё", "её", "же", "за", "затем", "защо", "здесь", "зі", "и", "из", "или", "им", "има", "их", "його", "к", "как",
    "какой", "както", "като", "кога", "когда", "което", "кои", "които", "кой", "коли", "который", "коя", "кто",
    "къде", "ли", "ми", "мне", "многие", "может", "мы", "на", "над", "наш", "не", "него", "нет", "ние", "но", "няма",
    "о", "об", "обаче", "однако", "он", "она", "они", "оно", "освен", "от", "очень", "перед", "по", "под", "после",
    "потом", "потому", "почему", "поэтому", "преди", "през", "при", "про", "під", "після", "с", "се", "сегодня",
    "сейчас", "си", "след", "со", "със", "също", "та", "тази", "так", "така", "также", "також", "там", "те", "тези",
    "тем", "то", "това", "тогда", "тоді", "този", "той", "только", "тому", "тот", "тя", "у", "уже", "хотя", "це",
    "цей", "ця", "ці", "че", "чем", "чи", "что", "чтобы", "ще", "що", "эта", "эти", "это", "этот", "я", "як", "якщо",
    "і", "із", "їх", "її",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_unique_and_in_small_letters() {
        for table in [DETERMINERS, PARTICLES, STARTERS] {
            assert!(table.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(table.iter().all(|word| *word == word.to_lowercase()));
        }
        assert!(STARTERS.iter().all(|word| !PARTICLES.contains(word)));
    }
}
