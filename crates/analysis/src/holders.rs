//! Who had the CPUs that target and generator waited for, and what the generator did while a request was
//! outside of the target: the parts of two parts of the account.

use model::{AccountPart, EntityKind, LedgerClass, PartKind, Quality};
use sensors::thread_time::Holder;

use crate::ledger::Ledger;
use crate::neighbours::Holding;
use crate::number_format::percent;
use crate::stats::ratio;
use crate::subject::Subject;

/// Waits for a CPU by who had it, as parts of the response time (or busy time).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Holders {
    pub(crate) target: f64,
    pub(crate) generator: f64,
    pub(crate) background: f64,
    pub(crate) nobody: f64,
}

/// Those who can have a CPU.
pub(crate) const SOMEBODY: [Holder; 3] = [Holder::Background, Holder::Target, Holder::Generator];

impl Holders {
    /// Of some waits, each with its part of the response time; `None` where it was not reported most.
    pub(crate) fn of(waits: &[(&Ledger, f64)]) -> Option<Self> {
        const MOST: f64 = 0.9;
        let (mut sum, mut told) = (Self::default(), 0.0);
        for (ledger, share) in waits {
            let part = |holder| ledger.held(holder);
            let Some(target) = part(Holder::Target) else {
                continue;
            };
            told += share;
            sum.target += share * target;
            sum.generator += share * part(Holder::Generator).unwrap_or(0.0);
            sum.background += share * part(Holder::Background).unwrap_or(0.0);
            sum.nobody += share * part(Holder::Idle).unwrap_or(0.0);
        }
        let all: f64 = waits.iter().map(|(_, share)| share).sum();
        (told > 0.0 && told >= MOST * all).then_some(sum)
    }

    /// All of the waits.
    pub(crate) fn all(&self) -> f64 {
        self.held() + self.nobody
    }

    /// Waits for CPUs that somebody had.
    pub(crate) fn held(&self) -> f64 {
        self.target + self.generator + self.background
    }

    /// The part of these that others had.
    pub(crate) fn others_part(&self) -> f64 {
        ratio(self.background, self.held()).unwrap_or(0.0)
    }

    /// The part of all that the generator had.
    pub(crate) fn generator_part(&self) -> f64 {
        ratio(self.generator, self.all()).unwrap_or(0.0)
    }
}

/// What is to be said of who had the CPUs.
pub(crate) struct Naming<'a> {
    /// Whose threads waited, and who shares the machine with them.
    pub(crate) own: (&'a str, Holder),
    pub(crate) partner: Option<(&'a str, Holder)>,
    /// Others by name, as parts of what the rest had.
    pub(crate) others: &'a [Holding],
    /// The part of the CPUs' busy time that the hypervisor took.
    pub(crate) stolen: f64,
}

/// Others that are named one by one.
const MOST_NAMED: usize = 3;
/// Others with less of the waits than this are not named.
const LEAST_NAMED: f64 = 0.02;

/// A ledger's waits for a CPU by who had it; `total_ns` is what shares are of. Empty where it was not told.
pub(crate) fn of_wait(ledger: &Ledger, total_ns: f64, naming: &Naming<'_>) -> Vec<AccountPart> {
    let wait_ns = ledger.get(LedgerClass::CpuWait);
    let held = |holder| ledger.held(holder).map(|part| part * wait_ns);
    let (Some(rest_ns), Some(nobody_ns)) = (held(Holder::Background), held(Holder::Idle)) else {
        return Vec::new();
    };
    // The hypervisor takes CPUs away from whoever has them.
    let left = 1.0 - naming.stolen;
    let told = match ledger.is_sampled {
        true => Quality::Sampled,
        false => Quality::Exact,
    };
    let quality = match naming.stolen > 0.0 {
        true => Quality::Estimated,
        false => told,
    };
    let part = |kind, label: &str, ns: f64| AccountPart {
        kind,
        label: label.to_owned(),
        entity: None,
        ns: ns.round() as i64,
        share: ns / total_ns.max(1.0),
        quality,
    };
    let (own, own_holder) = naming.own;
    let own_ns = held(own_holder).unwrap_or(0.0);
    let partner = naming
        .partner
        .map(|(name, holder)| (name, held(holder).unwrap_or(0.0)));
    let partner_ns = partner.map_or(0.0, |(_, ns)| ns);
    let mut parts = vec![part(PartKind::Own, own, own_ns * left)];
    parts.extend(partner.map(|(name, ns)| part(PartKind::Partner, name, ns * left)));
    let mut unnamed_ns = rest_ns;
    for holding in naming.others.iter().take(MOST_NAMED) {
        let ns = rest_ns * holding.part;
        if ns < LEAST_NAMED * wait_ns {
            break;
        }
        unnamed_ns -= ns;
        let name = &holding.entity.name;
        let is_namesake = name == own || partner.is_some_and(|(partner, _)| partner == name);
        parts.push(AccountPart {
            entity: Some(holding.entity.clone()),
            ..part(PartKind::Other, &label(holding, is_namesake), ns * left)
        });
    }
    let taken_ns = (own_ns + partner_ns + rest_ns) * naming.stolen;
    parts.push(part(PartKind::Stolen, "the hypervisor", taken_ns));
    parts.push(AccountPart {
        quality: told,
        ..part(PartKind::Nobody, "nobody", nobody_ns)
    });
    parts.sort_by_key(|part| std::cmp::Reverse(part.ns));
    // What is left of those who are named by name comes behind them.
    parts.push(part(PartKind::Other, "others", unnamed_ns.max(0.0) * left));
    parts.retain(|part| part.ns > 0);
    parts
}

/// What others are called: `rustc (12 processes)`, `another postgres`.
fn label(holding: &Holding, is_namesake: bool) -> String {
    let name = &holding.entity.name;
    let several = holding.entity.kind == EntityKind::Process && holding.processes > 1;
    match (several, is_namesake) {
        (false, false) => name.clone(),
        (false, true) => format!("another {name}"),
        (true, false) => format!("{name} ({} processes)", holding.processes),
        (true, true) => format!("other {name} ({} processes)", holding.processes),
    }
}

/// Who had the CPU, in words: `held by pgbench 46 %, postgres 34 %, nobody 8 %`.
pub(crate) fn in_words(parts: &[AccountPart]) -> Option<String> {
    /// Less of the wait than this is not worth a word.
    const WORTH_SAYING: f64 = 0.06;
    let all: i64 = parts.iter().map(|part| part.ns).sum();
    let of_all = |part: &AccountPart| part.ns as f64 / all.max(1) as f64;
    let said = parts.iter().filter(|part| of_all(part) >= WORTH_SAYING);
    let said: Vec<String> = said
        .map(|part| format!("{} {}", part.label, percent(of_all(part))))
        .collect();
    (!said.is_empty()).then(|| format!("CPUs held by {}", said.join(", ")))
}

/// The time outside of the target: what of it requests took between both ends' sockets, where that is known
/// (`network_ns`), and of the rest what the generator's threads did meanwhile, as parts of their own time, since which
/// of them a request waited for is not known. Empty where that was not counted.
pub(crate) fn of_outside(
    outside_ns: f64,
    total_ns: f64,
    generator: &Subject,
    network_ns: Option<f64>,
) -> Vec<AccountPart> {
    let Some(input) = generator.active_input else {
        return Vec::new();
    };
    let (on_cpu, wait) = generator.active;
    let network_ns = network_ns.map_or(0.0, |ns| ns.min(outside_ns));
    let own_ns = outside_ns - network_ns;
    let rest = (1.0 - on_cpu - wait - input).max(0.0);
    // Where the network is known by itself, nothing else of the generator's is a wait for it.
    let (input, rest, whole) = match network_ns > 0.0 && on_cpu + wait > 0.0 {
        true => (0.0, 0.0, on_cpu + wait),
        false => (input, rest, 1.0),
    };
    let while_it = |doing: &str| format!("while {} {doing}", generator.name);
    let own = |part: f64| own_ns * part / whole;
    let network = "between both ends' sockets: network, and waking up".to_owned();
    let kinds = [
        (PartKind::Network, network, network_ns),
        (
            PartKind::GeneratorCpuWait,
            while_it("waited for a CPU"),
            own(wait),
        ),
        (
            PartKind::GeneratorOnCpu,
            while_it("was on CPU"),
            own(on_cpu),
        ),
        (
            PartKind::GeneratorInput,
            while_it("waited for input"),
            own(input),
        ),
        (
            PartKind::GeneratorElse,
            while_it("did something else"),
            own(rest),
        ),
    ];
    let parts = kinds.into_iter().map(|(kind, label, ns)| AccountPart {
        kind,
        label,
        entity: None,
        ns: ns.round() as i64,
        share: ns / total_ns.max(1.0),
        quality: Quality::Estimated,
    });
    parts.filter(|part| part.ns > 0).collect()
}
