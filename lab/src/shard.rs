//! A part of a long series, for machines that cannot give it hours at a time: `2/4` is every fourth
//! situation, from the second on, so that expensive neighbours in the list come into different parts.

use std::str::FromStr;

use anyhow::{Context, Error, Result, bail};

/// One of several parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    number: usize,
    of: usize,
}

impl Shard {
    /// Those of `all` that are in this part, in their order.
    pub fn of<T>(self, all: Vec<T>) -> Vec<T> {
        all.into_iter()
            .skip(self.number - 1)
            .step_by(self.of)
            .collect()
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (number, of) = text
            .split_once('/')
            .context("a shard is a number of a number: 2/4")?;
        let shard = Self {
            number: number.parse().context("2/4 is the second of four")?,
            of: of.parse().context("2/4 is the second of four")?,
        };
        if shard.of == 0 {
            bail!("nothing can be divided into no shards; 2/4 is the second of four");
        }
        if !(1..=shard.of).contains(&shard.number) {
            bail!("there are the shards 1/{0} to {0}/{0}", shard.of);
        }
        Ok(shard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_shards_together_are_everything_once() {
        let mut all = Vec::new();
        for number in 1..=4 {
            let shard: Shard = format!("{number}/4").parse().expect("a shard");
            all.extend(shard.of((0..10).collect()));
        }
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_no_shard_is_refused() {
        let none = "0/0"
            .parse::<Shard>()
            .map(drop)
            .map_err(|why| why.to_string());
        assert_eq!(
            none,
            Err("nothing can be divided into no shards; 2/4 is the second of four".to_owned())
        );
        for text in ["", "2", "0/4", "5/4", "1/0", "a/b"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
