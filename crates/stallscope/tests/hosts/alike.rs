//! Golden texts with figures that were read at slightly other instants.

/// Whether two texts say the same, but for what other instants make of a figure: one in its last place or
/// 3 % of it, five points of a percentage, its bar, a second of time. Where lines are broken follows
/// from the figures.
pub fn alike(one: &str, other: &str) -> bool {
    let words = |text: &str| text.split_whitespace().map(Word::read).collect::<Vec<_>>();
    let (one, other) = (words(one), words(other));
    let unit = |index: usize| one.get(index + 1).map_or("", |next| next.rest.as_str());
    let mut pairs = one.iter().zip(&other).enumerate();
    one.len() == other.len() && pairs.all(|(index, (one, other))| one.is_like(other, unit(index)))
}

/// A word, with its first number apart.
struct Word {
    rest: String,
    value: f64,
    /// One in the number's last place.
    place: f64,
}

impl Word {
    fn read(word: &str) -> Self {
        // A bar is as long as its number.
        if word.bytes().all(|byte| byte == b'#') {
            return Self {
                rest: "#".to_owned(),
                value: word.len() as f64,
                place: 1.0,
            };
        }
        let start = word
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(word.len());
        let number =
            word[start..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',');
        let number = &word[start..word.len() - number.len()];
        let digits = number.trim_end_matches(['.', ',']);
        let decimals = digits
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len());
        let rest = match digits {
            "" => word.to_owned(),
            _ => format!("{}0{}", &word[..start], &word[start + digits.len()..]),
        };
        Self {
            rest,
            value: digits.replace(',', "").parse().unwrap_or_default(),
            place: 10f64.powi(-(decimals as i32)),
        }
    }

    /// `unit` is the word behind it.
    fn is_like(&self, other: &Self, unit: &str) -> bool {
        let unit = unit.trim_end_matches([':', ';', ',', '.', ')']);
        let least = match unit {
            "s" => 1.0,
            "%" => 5.0,
            _ if self.rest == "#" => 3.0,
            _ => self.place.max(other.place),
        };
        // What a change would bring is a quotient of small differences where it is a multiple.
        let part = if self.value < 100.0 { 0.03 } else { 0.1 };
        let most = least.max(self.value * part);
        self.rest == other.rest && (self.value - other.value).abs() <= most * 1.001
    }
}

#[test]
fn figures_may_differ_a_little_and_words_not_at_all() {
    let text = "used 88 % of it, (1.9 at a time) #### in 3.1 s: +743 %.";
    assert!(alike(
        text,
        "used 87 % of it, (1.8 at a time)\n ##### in 3.6 s: +739 %."
    ));
    for other in [
        "used 80 % of it, (1.9 at a time) #### in 3.1 s: +743 %.",
        "used 88 % of it, (1.9 at a time) ######## in 3.1 s: +743 %.",
        "used 88 % of it, (1.9 at a time) #### in 6.1 s: +743 %.",
        "lost 88 % of it, (1.9 at a time) #### in 3.1 s: +743 %.",
        "used 88 % of it, (1.9 at a time) #### in 3.1 s",
    ] {
        assert!(!alike(text, other), "{other}");
    }
}
