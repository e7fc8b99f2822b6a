//! Who attends to one node, on a thread of its own: from the connection until its recording is here.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use anyhow::Result;
use recording::FolderHandle;

use super::Destination;
use super::clock_offset::ClockOffset;
use super::connection::Interrupted;
use super::fetch;
use super::pending::PendingNode;
use super::protocol::HEARTBEAT;
use super::remote::Remote;
use crate::outputs::{self, Screen};

/// What the run wants of a node.
pub(super) enum Order {
    /// The run begins: the recording is to outlive the connection.
    Keep,
    /// The run has ended: the recording of this id is what the node's belongs to, if that is known.
    Fetch(Option<String>),
    /// There was no run.
    Discard,
}

/// What is known of a node that records.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    /// Where it records there.
    pub(super) path: PathBuf,
    pub(super) clock: ClockOffset,
    pub(super) is_root: bool,
}

/// Attends to one node.
pub(super) struct Attendant {
    pub(super) name: String,
    pub(super) destination: Destination,
    /// Whether the program may be copied there.
    pub(super) copy: bool,
    /// Where its recording is to be.
    pub(super) folder: Arc<FolderHandle>,
    pub(super) screen: Screen,
    pub(super) interrupted: Interrupted,
}

impl Attendant {
    /// Has the node record, says so, and follows orders until the last. Returns what is still on the node, and why.
    pub(super) fn attend(
        &self,
        begun: impl FnOnce(Result<Begun>),
        orders: &Receiver<Order>,
    ) -> Option<(PendingNode, anyhow::Error)> {
        let (mut remote, node) = match self.begin() {
            Ok((remote, known)) => {
                let node =
                    PendingNode::new(&self.name, &self.destination, &known.path, known.clock);
                begun(Ok(known));
                (remote, node)
            }
            Err(error) => {
                begun(Err(error));
                return None;
            }
        };
        let mut trouble = None;
        loop {
            let order = orders.recv_timeout(HEARTBEAT);
            let heard = match order {
                Ok(Order::Fetch(id)) => return self.fetch(remote, trouble, node, id.as_deref()),
                Ok(Order::Discard) | Err(RecvTimeoutError::Disconnected) => {
                    // What stays there is small, and nobody misses it.
                    let _ = remote.stop().and_then(|()| remote.remove(&node.path));
                    return None;
                }
                _ if trouble.is_some() => continue,
                Ok(Order::Keep) => remote.keep(),
                Err(RecvTimeoutError::Timeout) => remote.is_alive(),
            };
            if let Err(error) = heard {
                self.screen.say(&format!(
                    "stallscope: {} is no longer recorded: {}. The run goes on",
                    self.name,
                    outputs::sentence(&error)
                ));
                trouble = Some(error);
            }
        }
    }

    fn connect(&self) -> Result<Remote> {
        Remote::connect(&self.destination, self.copy, self.interrupted.clone())
    }

    fn begin(&self) -> Result<(Remote, Begun)> {
        let mut remote = self.connect()?;
        let path = remote.record()?;
        let clock = remote.clock()?;
        let is_root = remote.is_root;
        let begun = Begun {
            path,
            clock,
            is_root,
        };
        Ok((remote, begun))
    }

    /// Fetches what was recorded, over a new connection where the first one is gone.
    fn fetch(
        &self,
        mut remote: Remote,
        trouble: Option<anyhow::Error>,
        mut node: PendingNode,
        id: Option<&str>,
    ) -> Option<(PendingNode, anyhow::Error)> {
        let is_well = trouble.is_none() && remote.is_alive().is_ok();
        let remote = match is_well {
            true => Ok(remote),
            false => {
                drop(remote);
                self.connect()
            }
        };
        let fetched = remote.and_then(|mut remote| {
            node.measured(remote.clock()?);
            if is_well {
                remote.stop()?;
            }
            fetch::take(&mut remote, &node, &self.folder, id)
        });
        Some((node, fetched.err()?))
    }
}
