//! Prices from a file: of configurations, and of units of parameters.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use analysis::sizing::{Price, Prices};
use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use toml::Spanned;

/// A file of more bytes has no prices.
const MOST_BYTES: u64 = 1 << 20;
/// More prices than this are no price list of one sweep.
const MOST_PRICES: usize = 10_000;
/// Letters of a currency.
const MOST_LETTERS: usize = 8;

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Listed {
    #[serde(default)]
    currency: String,
    #[serde(default)]
    price: Vec<Row>,
    #[serde(default)]
    per_hour: BTreeMap<String, Spanned<f64>>,
}

/// The values of parameters, and the price.
#[derive(Deserialize, Debug)]
struct Row {
    per_hour: Spanned<f64>,
    #[serde(flatten)]
    values: BTreeMap<String, Value>,
}

#[derive(Deserialize, Debug)]
#[serde(untagged)]
enum Value {
    Text(String),
    Whole(i64),
    Number(f64),
}

impl Value {
    fn typed(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Whole(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// # Errors
/// One sentence with the line: it cannot be read, or has something that is no price.
pub(super) fn read(path: &Path) -> Result<Prices> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot open the prices {shown}"))?;
    let mut text = String::new();
    file.take(MOST_BYTES + 1)
        .read_to_string(&mut text)
        .with_context(|| format!("cannot read the prices {shown}"))?;
    if text.len() as u64 > MOST_BYTES {
        bail!("{shown} is too long for prices");
    }
    parse(&text).map_err(|why| anyhow!("{shown}: {why}"))
}

fn parse(text: &str) -> Result<Prices, String> {
    let form = "Write `per_hour = { cpus = 0.04 }`, or rows [[price]] with values and per_hour: docs/size.md";
    let listed: Listed = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |it| line_of(text, it.start));
        format!("line {line}: {}. {form}", error.message().trim())
    })?;
    let rows = listed.price.len() + listed.per_hour.len();
    if rows == 0 {
        return Err(format!("it has no prices. {form}"));
    }
    if rows > MOST_PRICES {
        return Err(format!(
            "it has {rows} prices; at most {MOST_PRICES} are read"
        ));
    }
    if listed.currency.chars().count() > MOST_LETTERS {
        return Err(format!(
            "its currency is longer than {MOST_LETTERS} letters"
        ));
    }
    let price = |it: &Spanned<f64>| match *it.get_ref() {
        price if price.is_finite() && price >= 0.0 => Ok(price),
        price => Err(format!(
            "line {}: {price} is no price of an hour: write a number of at least 0",
            line_of(text, it.span().start)
        )),
    };
    let per_unit = listed.per_hour.iter().map(|(names, it)| {
        let names = names.split('*').map(|it| it.trim().to_owned());
        Ok((names.collect(), price(it)?))
    });
    let per_unit = per_unit.collect::<Result<_, String>>()?;
    let rows = listed.price.into_iter().map(|row| {
        let values = row.values.into_iter();
        Ok(Price {
            per_hour: price(&row.per_hour)?,
            values: values.map(|(name, it)| (name, it.typed())).collect(),
        })
    });
    Ok(Prices {
        listed: rows.collect::<Result<_, String>>()?,
        per_unit,
        currency: listed.currency,
    })
}

/// The line of a place in a text, from 1 on.
fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    1 + before.iter().filter(|it| **it == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_of_configurations_and_of_units_are_read() {
        let text = "currency = 'EUR'\n[per_hour]\n'nodes * cpus' = 0.04\n[[price]]\nnodes = 3\nkind = 'm5'\nper_hour = 1\n";
        let prices = parse(text).expect("prices");
        assert_eq!(prices.currency, "EUR");
        assert_eq!(prices.listed[0].values["nodes"], "3");
        assert_eq!(prices.listed[0].values["kind"], "m5");
        assert_eq!(prices.listed[0].per_hour, 1.0);
        let names = ["nodes", "cpus"].map(str::to_owned).to_vec();
        assert_eq!(prices.per_unit, [(names, 0.04)]);
    }

    #[test]
    fn what_is_no_price_is_told_with_its_line() {
        let said = |text: &str| parse(text).expect_err(text);
        assert!(said("").contains("no prices"));
        assert!(said("[per_hour]\ncpus = -1\n").starts_with("line 2: -1 is no price"));
        assert!(said("[per_hour]\ncpus = 'dear'\n").starts_with("line 2"));
        assert!(said("[[price]]\nnodes = 3\n").contains("per_hour"));
        assert!(said("price_list = 1").contains("price_list"));
        assert!(said("[per_hour]\ncpus = nan\n").starts_with("line 2"));
    }
}
