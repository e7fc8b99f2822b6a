//! The options for a store of metrics: `explain --prometheus` and `import --prometheus`.

use std::path::PathBuf;

use clap::Args;

use super::Dsn;

#[derive(Args, Debug)]
pub(crate) struct Stored {
    /// Ask this store of metrics (Prometheus, VictoriaMetrics, Thanos, Mimir) about nodes: http://HOST:PORT. Token: STALLSCOPE_PROMETHEUS_TOKEN.
    #[arg(long, value_name = "URL", requires = "instance")]
    pub(crate) prometheus: Option<Dsn>,
    /// Which nodes: a regular expression for their label `instance`, 'db-.*'.
    #[arg(long, value_name = "REGEX", requires = "prometheus")]
    pub(crate) instance: Option<String>,
    /// A query for the load's throughput: 'sum(rate(requests_total[1m]))'.
    #[arg(long, value_name = "QUERY", requires = "prometheus")]
    pub(crate) metric: Option<String>,
    /// Look at these metrics of the nodes too: a regular expression for names, 'pg_stat_database_.*'.
    #[arg(long, value_name = "REGEX", requires = "prometheus")]
    pub(crate) also: Option<String>,
    /// Read from this file what the store calls labels and metrics: docs/cluster.md.
    #[arg(long, value_name = "FILE", requires = "prometheus")]
    pub(crate) names: Option<PathBuf>,
    /// Trust the certificates in this file (PEM) when the store speaks TLS.
    #[arg(long, value_name = "FILE", requires = "prometheus")]
    pub(crate) ca: Option<PathBuf>,
    /// Ask as this tenant (X-Scope-OrgID).
    #[arg(long, value_name = "ID", requires = "prometheus")]
    pub(crate) tenant: Option<String>,
}
