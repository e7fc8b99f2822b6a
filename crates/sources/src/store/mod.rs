//! A store of metrics that speaks Prometheus's query API (Prometheus, VictoriaMetrics, Thanos, Mimir): asked, never
//! written to. What a question means, and its answer, is known to `imports`; here is how it gets there and back.
//!
//! The API: <https://prometheus.io/docs/prometheus/latest/querying/api/>.

mod place;
mod trouble;

use std::time::Duration;

use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use self::place::Place;
use crate::Surroundings;

/// A store that does not take a connection within this time is as good as away.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// What Prometheus gives a query itself, by default (`--query.timeout`).
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);
/// Bytes of one answer.
const MOST_BYTES: u64 = 128 << 20;
/// What answers well.
const OK: u16 = 200;
/// The header by which Mimir and Thanos tell tenants apart.
const TENANT: &str = "X-Scope-OrgID";

/// The instants that a range query answers for: from `start_s` on, every `step_s`, up to `end_s`; seconds since 1970.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Grid {
    /// The first instant.
    pub start_s: f64,
    /// No instant lies behind it.
    pub end_s: f64,
    /// Their distance.
    pub step_s: f64,
}

/// A store of metrics.
pub struct Store {
    agent: ureq::Agent,
    place: Place,
    tenant: Option<String>,
}

impl Store {
    /// The store at a URL: `http://HOST:PORT`, with the path before `/api/v1` where it has one. `ca` is the text of a file
    /// with certificates (PEM) that its own is signed with, where these are not those of the public web.
    ///
    /// # Errors
    /// A sentence for the user that quotes no secret.
    pub fn at(
        url: &str,
        ca: Option<&[u8]>,
        tenant: Option<&str>,
        around: &dyn Surroundings,
    ) -> Result<Self, String> {
        let place = Place::parse(url, around)?;
        let tls = match ca {
            None => TlsConfig::default(),
            Some(pem) => TlsConfig::builder().root_certs(roots(pem)?).build(),
        };
        let agent = ureq::Agent::config_builder()
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_global(Some(ANSWER_TIMEOUT))
            .http_status_as_error(false)
            // A redirect may lead to anybody, and its target would get the token.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .tls_config(tls)
            .accept("application/json")
            .user_agent("stallscope")
            .build()
            .new_agent();
        Ok(Self {
            agent,
            place,
            tenant: tenant.map(str::to_owned),
        })
    }

    /// The store's address as it may be shown: without its account.
    pub fn shown(&self) -> String {
        self.place.to_string()
    }

    /// The answer to a range query, JSON as the API describes it.
    ///
    /// # Errors
    /// What failed and what to do.
    pub fn range(&self, query: &str, grid: Grid) -> Result<Vec<u8>, String> {
        let [start, end, step] = [grid.start_s, grid.end_s, grid.step_s].map(|it| it.to_string());
        self.ask(
            "query_range",
            &[
                ("query", query),
                ("start", &start),
                ("end", &end),
                ("step", &step),
                // Else VictoriaMetrics moves start and end to where its cache has answers.
                ("nocache", "1"),
            ],
        )
    }

    /// The answer to a query at one instant, seconds since 1970.
    ///
    /// # Errors
    /// What failed and what to do.
    pub fn instant(&self, query: &str, at_s: f64) -> Result<Vec<u8>, String> {
        let at = at_s.to_string();
        self.ask("query", &[("query", query), ("time", &at)])
    }

    fn ask(&self, method: &str, form: &[(&str, &str)]) -> Result<Vec<u8>, String> {
        let failed = |error: ureq::Error| trouble::failed(&error, &self.place);
        let mut request = self.agent.post(self.place.url(method));
        if let Some(authorization) = &self.place.authorization {
            request = request.header("Authorization", authorization);
        }
        if let Some(tenant) = &self.tenant {
            request = request.header(TENANT, tenant);
        }
        let mut answer = request.send_form(form.iter().copied()).map_err(failed)?;
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(MOST_BYTES);
        let body = body.read_to_vec().map_err(failed)?;
        match status {
            OK => Ok(body),
            _ => Err(trouble::refused(status, &body, &self.place)),
        }
    }
}

fn roots(pem: &[u8]) -> Result<RootCerts, String> {
    const NONE: &str =
        "the file of --ca has no certificate: it must be PEM, -----BEGIN CERTIFICATE-----";
    let items: Result<Vec<PemItem<'_>>, _> = parse_pem(pem).collect();
    let certificates: Vec<Certificate<'static>> = items
        .map_err(|_| NONE)?
        .into_iter()
        .filter_map(|item| match item {
            PemItem::Certificate(certificate) => Some(certificate.to_owned()),
            _ => None,
        })
        .collect();
    match certificates.is_empty() {
        true => Err(NONE.to_owned()),
        false => Ok(RootCerts::new_with_certs(&certificates)),
    }
}
