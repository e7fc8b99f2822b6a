//! What configurations cost.

use std::collections::BTreeMap;

use model::SweptParameter;

/// Prices of an hour.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Prices {
    /// What the numbers are in; empty where that is not said.
    pub currency: String,
    /// Prices of configurations, the first that matches counts.
    pub listed: Vec<Price>,
    /// Prices of units: the names of parameters, whose values are multiplied, and the price of each.
    pub per_unit: Vec<(Vec<String>, f64)>,
}

/// The price of a configuration.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Price {
    /// The values of parameters by their names; those that are not named may be any.
    pub values: BTreeMap<String, String>,
    /// What an hour of it costs.
    pub per_hour: f64,
}

impl Prices {
    /// What an hour of a configuration costs; `None` where no price is about it.
    pub(super) fn of(&self, parameters: &[SweptParameter], values: &[String]) -> Option<f64> {
        let value = |name: &str| {
            let place = parameters.iter().position(|it| it.name == name)?;
            values.get(place)
        };
        let is_it = |price: &&Price| {
            let mut named = price.values.iter();
            named.all(|(name, wanted)| value(name).is_some_and(|it| is_same(it, wanted)))
        };
        if let Some(price) = self.listed.iter().find(is_it) {
            return Some(price.per_hour);
        }
        if self.per_unit.is_empty() {
            return None;
        }
        let of_units = self.per_unit.iter().map(|(names, price)| {
            let numbers = names.iter().map(|it| super::axes::parsed(value(it)?));
            let units: f64 = numbers.product::<Option<f64>>()?;
            Some(units * price)
        });
        of_units.sum()
    }
}

/// `4` is `4.0`.
fn is_same(one: &str, other: &str) -> bool {
    let numbers = super::axes::parsed(one).zip(super::axes::parsed(other));
    one == other || numbers.is_some_and(|(one, other)| one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(prices: &Prices, values: [&str; 2]) -> Option<f64> {
        let parameters = ["nodes", "cpus"].map(|name| SweptParameter {
            name: name.to_owned(),
            values: Vec::new(),
        });
        prices.of(&parameters, &values.map(str::to_owned))
    }

    #[test]
    fn a_listed_price_counts_before_that_of_units_and_units_are_multiplied() {
        let listed = Price {
            values: BTreeMap::from([
                ("nodes".to_owned(), "3".to_owned()),
                ("cpus".to_owned(), "4.0".to_owned()),
            ]),
            per_hour: 9.0,
        };
        let both = vec!["nodes".to_owned(), "cpus".to_owned()];
        let prices = Prices {
            currency: String::new(),
            listed: vec![listed],
            per_unit: vec![(both, 0.5), (vec!["nodes".to_owned()], 1.0)],
        };
        assert_eq!(cost(&prices, ["3", "4"]), Some(9.0));
        assert_eq!(cost(&prices, ["6", "2"]), Some(12.0));
        assert_eq!(cost(&prices, ["many", "2"]), None);
        assert_eq!(cost(&Prices::default(), ["3", "4"]), None);
    }
}
