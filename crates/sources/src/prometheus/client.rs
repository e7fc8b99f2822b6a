//! Asks an endpoint. The connection stays open between polls where the endpoint lets it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::address::Address;
use super::text;
use super::trouble;
use crate::{Connection, Poll, Process, Server, Trouble};

/// An endpoint that does not take a connection within this time is as good as away.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// One that has not answered wholly within this time is too busy.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of one answer; a node exporter's has some 100,000.
const MOST_BYTES: u64 = 16 << 20;
/// The plain format first: OpenMetrics adds times of creation, which are not recorded.
const ACCEPT: &str =
    "text/plain;version=0.0.4, application/openmetrics-text;version=1.0.0;q=0.5, */*;q=0.1";
/// What answers well.
const OK: u16 = 200;

/// An endpoint that is asked.
pub(super) struct Client {
    agent: ureq::Agent,
    address: Address,
    is_closed: bool,
}

impl Client {
    /// Asks once, to learn whether it answers.
    pub(super) fn connect(address: &Address) -> Result<(Self, Server), Trouble> {
        let agent = ureq::Agent::config_builder()
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_global(Some(ANSWER_TIMEOUT))
            .http_status_as_error(false)
            // A redirect may lead to anybody, and a proxy of the environment is not for loopback.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .accept(ACCEPT)
            .user_agent("stallscope")
            .build()
            .new_agent();
        let mut client = Self {
            agent,
            address: address.clone(),
            is_closed: false,
        };
        client.ask()?;
        let server = Server {
            process: Some(Process::Listening {
                at: address.endpoint.clone(),
                names: &[],
            }),
            facts: BTreeMap::new(),
            hidden: Vec::new(),
        };
        Ok((client, server))
    }

    fn ask(&mut self) -> Result<Poll, Trouble> {
        let before = Instant::now();
        let answer = self.answer()?;
        let duration = i64::try_from(before.elapsed().as_nanos()).unwrap_or(i64::MAX);
        let read =
            text::read(&answer).map_err(|error| trouble::malformed(&error, &self.address))?;
        let series = read.samples.len() + read.left_out;
        Ok(Poll {
            server: vec![duration, answer.len() as i64, series as i64],
            series: read.samples,
            left_out: read.left_out,
            ..Poll::default()
        })
    }

    fn answer(&self) -> Result<Vec<u8>, Trouble> {
        let Address {
            url, authorization, ..
        } = &self.address;
        let failed = |error: ureq::Error| trouble::failed(&error, &self.address);
        let request = self.agent.get(url);
        let request = match authorization {
            Some(authorization) => request.header("Authorization", authorization),
            None => request,
        };
        let mut answer = request.call().map_err(failed)?;
        let status = answer.status().as_u16();
        if status != OK {
            return Err(trouble::refused(status, &self.address));
        }
        let body = answer.body_mut().with_config().limit(MOST_BYTES);
        body.read_to_vec().map_err(failed)
    }
}

impl Connection for Client {
    fn poll(&mut self) -> Result<Poll, Trouble> {
        let poll = self.ask();
        // Asked anew at longer and longer intervals, whatever the trouble was.
        self.is_closed = poll.is_err();
        poll
    }

    fn is_closed(&self) -> bool {
        self.is_closed
    }
}
