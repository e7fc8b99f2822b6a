//! Statements that are rare and start much: a GRANT that ends every cached plan, a CHECKPOINT, a VACUUM.

/// Which of them one is (column `rare`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rare {
    /// GRANT, REVOKE.
    Grant = 1,
    /// CREATE, ALTER, DROP, COMMENT.
    Definition,
    /// CHECKPOINT.
    Checkpoint,
    /// VACUUM.
    Vacuum,
    /// ANALYZE.
    Analyze,
    /// REINDEX, CLUSTER.
    Reindex,
    /// TRUNCATE.
    Truncate,
    /// LOCK.
    Lock,
    /// REFRESH MATERIALIZED VIEW.
    Refresh,
}

impl Rare {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Grant,
        Self::Definition,
        Self::Checkpoint,
        Self::Vacuum,
        Self::Analyze,
        Self::Reindex,
        Self::Truncate,
        Self::Lock,
        Self::Refresh,
    ];

    /// That of a code; `None` for a statement of no such kind.
    pub fn new(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|it| *it as i64 == code)
    }

    /// What such statements are called.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Grant => "GRANT, REVOKE",
            Self::Definition => "CREATE, ALTER, DROP, COMMENT",
            Self::Checkpoint => "CHECKPOINT",
            Self::Vacuum => "VACUUM",
            Self::Analyze => "ANALYZE",
            Self::Reindex => "REINDEX, CLUSTER",
            Self::Truncate => "TRUNCATE",
            Self::Lock => "LOCK",
            Self::Refresh => "REFRESH",
        }
    }

    /// By the first word of a statement without comments.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim_start_matches([' ', '\t', '\n', '\r', ';', '(']);
        let end = text.find(|it: char| !it.is_ascii_alphabetic());
        let word = &text[..end.unwrap_or(text.len())];
        Some(match word.to_ascii_uppercase().as_str() {
            "GRANT" | "REVOKE" => Self::Grant,
            "CREATE" | "ALTER" | "DROP" | "COMMENT" => Self::Definition,
            "CHECKPOINT" => Self::Checkpoint,
            "VACUUM" => Self::Vacuum,
            "ANALYZE" | "ANALYSE" => Self::Analyze,
            "REINDEX" | "CLUSTER" => Self::Reindex,
            "TRUNCATE" => Self::Truncate,
            "LOCK" => Self::Lock,
            "REFRESH" => Self::Refresh,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_lead_back() {
        let codes = Rare::ALL.map(|it| Rare::new(it as i64));
        assert_eq!(codes, Rare::ALL.map(Some));
        assert_eq!([0, 10, model::MISSING].map(Rare::new), [None; 3]);
    }

    #[test]
    fn the_first_word_tells() {
        for (text, expected) in [
            (" grant select on t to u", Some(Rare::Grant)),
            ("REVOKE ALL ON t FROM u", Some(Rare::Grant)),
            ("create temp table t (i int)", Some(Rare::Definition)),
            ("checkpoint;", Some(Rare::Checkpoint)),
            ("VACUUM(FULL) t", Some(Rare::Vacuum)),
            ("analyze", Some(Rare::Analyze)),
            ("EXPLAIN ANALYZE select ?", None),
            ("locks", None),
            ("LOCK TABLE t", Some(Rare::Lock)),
            ("select ?", None),
            ("", None),
            ("\u{e9}grant", None),
        ] {
            assert_eq!(Rare::of(text), expected, "{text}");
        }
    }
}
