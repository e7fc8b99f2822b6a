//! A parameter and its list of values, as typed: `clients=1,2,4..64`.

use std::str::FromStr;

/// More values than these are a mistake in a range.
const MOST_VALUES: usize = 1_000;

/// Between the names of parameters that are set together, and between their values.
const TOGETHER: char = '+';
const APART: char = '/';
/// What stands in braces for the number of an instance, from 1 on.
pub(super) const INSTANCE: &str = "instance";

/// What becomes of a parameter's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// It takes the place of braces.
    Text,
    /// So many instances of the command run at once.
    Instances,
    /// Each instance's cgroup has this capacity.
    Limit(capacity::Kind),
    /// Nothing: its name stands nowhere, and means nothing by itself.
    Nothing,
}

impl Meaning {
    /// Of a name that stands in no command.
    pub(super) fn of(name: &str) -> Self {
        match (name, capacity::Kind::named(name)) {
            (analysis::sweep::INSTANCES, _) => Self::Instances,
            (_, Some(kind)) => Self::Limit(kind),
            (_, None) => Self::Nothing,
        }
    }
}

/// What a sweep varies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Parameter {
    /// As it stands in braces.
    pub(crate) name: String,
    /// In the order in which they were typed, none twice.
    pub(crate) values: Vec<String>,
}

impl FromStr for Parameter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no parameter: write it like 'clients=1,2,4..64'");
        let (name, list) = text.split_once('=').ok_or_else(wrong)?;
        let is_name = |it: &str| {
            let mut letters = it.chars();
            letters
                .next()
                .is_some_and(|it| it.is_ascii_alphabetic() || it == '_')
                && letters.all(|it| it.is_ascii_alphanumeric() || "_-".contains(it))
        };
        if !name.split(TOGETHER).all(is_name) {
            return Err(wrong());
        }
        let values = values(list)?;
        let parameter = Self {
            name: name.to_owned(),
            values,
        };
        let names = parameter.names().count();
        let mut values = parameter.values.iter();
        match values.find(|it| parameter.parts(it).count() != names) {
            Some(value) => Err(format!(
                "`{value}` has not a value for each of {name}: write them like '{}'",
                parameter.names().collect::<Vec<_>>().join("/")
            )),
            None => Ok(parameter),
        }
    }
}

impl Parameter {
    /// Its names: several where they are set together, `cpus+memory`.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.name.split(TOGETHER)
    }

    /// Each name's part of a value: `cpus` and `memory` of `2/4G`.
    pub(crate) fn parts<'a>(&'a self, value: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let most = match self.names().count() {
            // A single one may be a path.
            1 => 1,
            _ => usize::MAX,
        };
        let mut names = self.names();
        value
            .splitn(most, APART)
            .map(move |it| (names.next().unwrap_or_default(), it))
    }

    /// Its values from the lowest on, where all are whole numbers.
    pub(super) fn whole_numbers(&self) -> Option<Vec<u64>> {
        let numbers = self.values.iter().map(|it| it.parse().ok());
        let mut numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
        numbers.sort_unstable();
        Some(numbers)
    }
}

/// Every combination of one value of each list, the last list fastest.
pub(crate) fn combinations<'a>(lists: impl Iterator<Item = &'a [String]>) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for list in lists {
        let longer = |it: &Vec<String>| {
            let with = |value: &String| [it.as_slice(), std::slice::from_ref(value)].concat();
            list.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The values of a list.
///
/// # Errors
/// A sentence: it is empty, a range has no numbers or no end, or it is too long.
fn values(list: &str) -> Result<Vec<String>, String> {
    let mut values: Vec<String> = Vec::new();
    let mut numbers: Vec<f64> = Vec::new();
    for item in list.split(',').map(str::trim) {
        if item.is_empty() {
            return Err(format!("`{list}` has an empty value"));
        }
        let range = item.split_once("..");
        let ends = range.and_then(|(from, to)| Some((number(from)?, number(to)?)));
        match (range, ends) {
            (None, _) => {
                values.push(item.to_owned());
                numbers.extend(number(item));
            }
            (Some(_), Some((from, to))) => {
                numbers.push(from);
                values.push(shown(from));
                let step = Step::of(&numbers)
                    .filter(|it| it.leads(from, to))
                    .ok_or_else(|| {
                        format!(
                            "`{item}` does not go up from {from} to {to} in the steps before it"
                        )
                    })?;
                let mut at = from;
                loop {
                    at = step.after(at);
                    // Steps of a tenth miss their end by the last bit.
                    if at > to * (1.0 + 1e-9) {
                        break;
                    }
                    if values.len() > MOST_VALUES {
                        return Err(format!("`{list}` has more than {MOST_VALUES} values"));
                    }
                    values.push(shown(at));
                    numbers.push(at);
                }
            }
            // Names may have two dots.
            (Some(_), None) => values.push(item.to_owned()),
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    values.retain(|it| seen.insert(it.clone()));
    match values.len() {
        0 => Err(format!("`{list}` has no values")),
        many if many > MOST_VALUES => Err(format!("`{list}` has more than {MOST_VALUES} values")),
        _ => Ok(values),
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|it: &f64| it.is_finite())
}

/// Without what binary fractions add: 0.1 three times is 0.3.
fn shown(value: f64) -> String {
    format!("{}", (value * 1e9).round() / 1e9)
}

/// How a range goes on.
#[derive(Clone, Copy, Debug)]
enum Step {
    Plus(f64),
    Times(f64),
}

impl Step {
    /// Of the last numbers before the dots: three that grow by the same factor go on so, two by the same difference, one by
    /// 1.
    fn of(numbers: &[f64]) -> Option<Self> {
        match *numbers {
            [.., a, b, c] if a > 0.0 && (b / a - c / b).abs() < 1e-9 && b > a => {
                Some(Self::Times(c / b))
            }
            [.., a, b] => Some(Self::Plus(b - a)),
            [_] => Some(Self::Plus(1.0)),
            [] => None,
        }
    }

    /// Whether it comes from one to the other.
    fn leads(self, from: f64, to: f64) -> bool {
        let rises = match self {
            Self::Plus(by) => by > 0.0,
            Self::Times(by) => by > 1.0,
        };
        rises && to >= from
    }

    fn after(self, value: f64) -> f64 {
        match self {
            Self::Plus(by) => value + by,
            Self::Times(by) => value * by,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(list: &str) -> String {
        values(list).map_or_else(|why| why, |it| it.join(" "))
    }

    #[test]
    fn lists_and_ranges_are_read() {
        assert_eq!(of("1,2,4..64"), "1 2 4 8 16 32 64");
        assert_eq!(of("1..5"), "1 2 3 4 5");
        assert_eq!(of("2,4..10"), "2 4 6 8 10");
        assert_eq!(of("0.1,0.2..0.5"), "0.1 0.2 0.3 0.4 0.5");
        assert_eq!(of("1, 1 ,2"), "1 2");
        assert_eq!(of("ext4,xfs"), "ext4 xfs");
        assert_eq!(of("256M,1G"), "256M 1G");
        assert_eq!(of("../a,b..c"), "../a b..c");
        assert_eq!(of("4..4"), "4");
        assert_eq!(of("1,2,4..50"), "1 2 4 8 16 32", "the end need not be hit");
    }

    #[test]
    fn nonsense_is_told() {
        for (list, said) in [
            ("", "an empty value"),
            ("1,,2", "an empty value"),
            ("8..1", "does not go up"),
            ("4,2..1", "does not go up"),
            ("1..1e9", "more than 1000 values"),
        ] {
            assert!(of(list).contains(said), "{list}: {}", of(list));
        }
        for wrong in ["clients", "=1", "a b=1", "1a=1"] {
            let said = wrong.parse::<Parameter>().expect_err(wrong);
            assert!(said.contains("clients=1,2,4..64"), "{said}");
        }
        let parameter: Parameter = "clients=1,2".parse().expect("a parameter");
        assert_eq!(
            (parameter.name.as_str(), parameter.values.len()),
            ("clients", 2)
        );
    }

    #[test]
    fn parameters_may_be_set_together() {
        let machines: Parameter = "cpus+memory=2/4G,4/8G".parse().expect("a parameter");
        let parts: Vec<_> = machines.parts(&machines.values[1]).collect();
        assert_eq!(parts, [("cpus", "4"), ("memory", "8G")]);
        let path: Parameter = "folder=/a/b".parse().expect("a parameter");
        assert_eq!(path.parts("/a/b").collect::<Vec<_>>(), [("folder", "/a/b")]);
        for wrong in ["cpus+memory=2/4G,4", "a+b=1/2/3"] {
            let said = wrong.parse::<Parameter>().expect_err(wrong);
            assert!(said.contains("has not a value for each"), "{said}");
        }
        assert!("a+=1".parse::<Parameter>().is_err());
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_read_or_told(list in "[0-9a-c.,-]{0,24}") {
            if let Ok(values) = values(&list) {
                prop_assert!(!values.is_empty() && values.len() <= MOST_VALUES);
                let mut once = values.clone();
                once.sort();
                once.dedup();
                prop_assert_eq!(once.len(), values.len());
            }
        }
    }
}
