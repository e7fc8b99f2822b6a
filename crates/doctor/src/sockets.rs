//! Whether the kernel lists sockets with their other ends (sock_diag).

use super::answer::Answer;
use super::host_facts::HostFacts;
use super::tree::name_of;

/// Modules, and what their lists are of.
const TCP: (&str, &str) = ("tcp_diag", "TCP");
const UNIX: (&str, &str) = ("unix_diag", "unix");

/// The lists of TCP and of unix sockets.
pub(super) fn check(host: &HostFacts<'_>) -> Answer {
    let Some(probes) = &host.probes else {
        return Answer::not_probed();
    };
    let lists = [(TCP, probes.tcp_sockets), (UNIX, probes.unix_sockets)];
    let refused = lists
        .iter()
        .filter_map(|(list, tried)| Some((list, tried.err()?)));
    let refused: Vec<_> = refused.collect();
    let Some((_, errno)) = refused.first() else {
        return Answer::fine("The kernel lists TCP and unix sockets with their other ends.");
    };
    let named = |pick: fn(&(&(&'static str, &'static str), _)) -> &'static str, between: &str| {
        refused.iter().map(pick).collect::<Vec<_>>().join(between)
    };
    let kinds = named(|((_, kind), _)| kind, " or ");
    let modules = named(|((module, _), _)| module, " ");
    let lacks = match refused.len() {
        1 => format!("the module {modules} is not loaded"),
        _ => format!(
            "the modules {} are not loaded",
            modules.replace(' ', " and ")
        ),
    };
    let place = if host.is_in_container() {
        "on the host; "
    } else {
        ""
    };
    Answer::missing(format!(
        "The kernel does not list {kinds} sockets with their other ends ({}): {lacks}.",
        name_of(*errno)
    ))
    .costs(
        "Who serves a load that connects over unix sockets; round trips, retransmits and accept queues of TCP: net.rtt, \
         net.loss and net.backlog rest on them.",
    )
    .fixed_by(host.type_in(
        &format!("{place}until the next boot; a file in /etc/modules-load.d that names it keeps it"),
        &[&format!("{{sudo}}modprobe -a {modules}")],
    ))
}
