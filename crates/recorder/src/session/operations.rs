//! What a file of results says of single operations, on the recording's clock.

use collectors::Sampler;
use model::{Identity, Rows, Timestamp};
use workloads::{Bin, LATENCY_SAMPLE, Operations, SIGNAL};

use super::Session;
use crate::latency_log::boottime;

impl Session {
    /// Takes what a file of results says of single operations, of a workload that has ended. Of all together it speaks
    /// where the workload itself did not.
    pub(crate) fn operations(&mut self, operations: &Operations, ended: Timestamp) {
        if !self.has_bins {
            let identity = &self.meta.identity;
            let placed = operations
                .of_all
                .iter()
                .filter_map(|bin| placed(identity, bin, ended));
            let mut rows = Rows::with_capacity(SIGNAL.columns.len(), operations.of_all.len());
            for bin in placed {
                rows.push(bin.end, Sampler::WORKLOAD, &bin.values());
            }
            self.has_bins = !rows.is_empty();
            self.rows(&SIGNAL, &rows);
        }
        for (label, bin) in &operations.by_label {
            let label = operations.labels.get(*label).cloned();
            if let Some(bin) = placed(&self.meta.identity, bin, ended) {
                self.labelled.take(&Bin { label, ..bin });
            }
        }
        let mut rows = Rows::with_capacity(LATENCY_SAMPLE.columns.len(), operations.sampled.len());
        for it in &operations.sampled {
            let at = boottime(&self.meta.identity, it.ended_unix_ns).filter(|at| *at <= ended);
            let label = operations.labels.get(it.label);
            if let (Some(at), Some(label)) = (at, label) {
                rows.push(at, self.labelled.entity(label, ended), &[it.latency_ns]);
            }
        }
        self.write_labelled();
        self.rows(&LATENCY_SAMPLE, &rows);
    }
}

/// An interval of the wall clock on the recording's; `None` where it ends after the run, as the wall clock was set.
fn placed(identity: &Identity, bin: &Bin, ended: Timestamp) -> Option<Bin> {
    let end = boottime(identity, bin.end.as_ns())?;
    (end <= ended).then(|| Bin { end, ..bin.clone() })
}
