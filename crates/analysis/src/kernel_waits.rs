//! What kept the target's threads in the kernel, where their stacks were looked at: a disk, or rather its
//! journal, a lock, a limit.

use model::Formula;
use sensors::kernel_wait::{KERNEL_WAIT, WAIT_SITES};
use sensors::wait_channel::WaitChannel;

use crate::formula;
use crate::number_format::percent;
use crate::scene::Scene;

/// Parts of the time that the kernel kept the target's serving threads from running, the largest first; empty
/// where nothing did, or it was not recorded.
pub(crate) fn kept(scene: &Scene<'_>) -> Vec<(WaitChannel, f64)> {
    let mut parts: Vec<(WaitChannel, f64)> = WAIT_SITES.into_iter().map(|it| (it, 0.0)).collect();
    for thread in &scene.roles.target.serving {
        for (part, column) in parts.iter_mut().zip(KERNEL_WAIT.columns.iter()) {
            let series = scene
                .timeline
                .series(&KERNEL_WAIT.name, *thread, &column.name);
            part.1 += series.and_then(|it| it.growth(scene.window)).unwrap_or(0.0);
        }
    }
    let all: f64 = parts.iter().map(|(_, ns)| ns).sum();
    parts.retain(|(_, ns)| *ns > 0.0);
    parts.iter_mut().for_each(|(_, ns)| *ns /= all);
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    parts
}

/// The column that a channel's time is in.
pub(crate) fn column(channel: WaitChannel) -> String {
    let place = WAIT_SITES.iter().position(|it| *it == channel).unwrap_or(0);
    let (table, column) = (&KERNEL_WAIT.name, &KERNEL_WAIT.columns[place].name);
    format!("{table}.{column}")
}

/// How its part of all that is worked out.
pub(crate) fn formula(channel: WaitChannel) -> Formula {
    let all = WAIT_SITES.iter().zip(KERNEL_WAIT.columns.iter());
    let names = |of: &dyn Fn(WaitChannel) -> bool| -> Vec<&str> {
        let these = all.clone().filter(|(it, _)| of(**it));
        these.map(|(_, column)| &*column.name).collect()
    };
    let kept = |columns: &[&str]| formula::growth(&KERNEL_WAIT.name, columns, formula::SERVING);
    formula::part(kept(&names(&|it| it == channel)), kept(&names(&|_| true)))
}

/// What the kernel kept somebody for, to follow "kept by the kernel".
pub(crate) fn label(channel: WaitChannel) -> &'static str {
    match channel {
        WaitChannel::Page => "for a page of a file",
        WaitChannel::Block => "for a request to a disk",
        WaitChannel::KernelLock => "behind a lock inside the kernel",
        WaitChannel::Throttle => "by a limit on its group's I/O",
        WaitChannel::Journal => "in the file system's journal",
        WaitChannel::DirtyThrottle => "because too many pages are dirty",
        WaitChannel::Reclaim => "while memory is made free",
        WaitChannel::Swap => "for a page from swap",
        WaitChannel::NetworkFile => "for a network file system's server",
        WaitChannel::UserFile => "for the process that serves a file system",
        _ => "for something that is not in the list",
    }
}

/// The parts that are worth saying, in words: "64 % in the file system's journal, 30 % for a page of a file".
pub(crate) fn in_words(parts: &[(WaitChannel, f64)], least: f64) -> Option<String> {
    let said = parts.iter().filter(|(_, part)| *part >= least);
    let said: Vec<String> = said
        .map(|(channel, part)| format!("{} {}", percent(*part), label(*channel)))
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}
