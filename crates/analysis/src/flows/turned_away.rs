//! Connections of the load that the target closed before they had asked for anything, or unanswered.

use model::{EntityId, Formula, Role, Timeline, Window};
use sensors::flow::{FLOW, Peer, Side};

use super::traffic::{Traffic, flows};
use crate::formula;

/// Connections of the load of which a part came to nothing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TurnedAway {
    /// The flow of the load's process that was turned away most.
    pub flow: EntityId,
    /// How many connections it opened.
    pub opened: f64,
    /// How many of these were turned away.
    pub turned_away: f64,
    /// What tells it.
    pub by: ToldBy,
}

/// How it is known that a connection was turned away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToldBy {
    /// The server reset it instead of answering.
    Reset,
    /// The server, which speaks first, ended it before the client had asked for anything.
    Greeting,
    /// A client of PostgreSQL's protocol said who it is and nothing after that: a session in which anything is asked has a
    /// second message ("Start-up", PostgreSQL's documentation, 55.2.1). At least so many.
    Startup,
}

impl TurnedAway {
    /// The load's process that was turned away most often; `None` where none was, or its connections were not counted.
    pub(crate) fn of(timeline: &Timeline, window: Window) -> Option<Self> {
        let all = flows(timeline, window);
        let of_target = |it: &&Traffic| it.role == Role::Target && it.name.side == Side::Server;
        let served: Vec<&Traffic> = all.iter().filter(of_target).collect();
        let to_target = all.iter().filter(|it| {
            let is_client = it.role == Role::Generator && it.name.side == Side::Client;
            is_client && served.iter().any(|server| is_between(server, it))
        });
        let is_asked = served.iter().any(|server| server.of("receives") > 0.0);
        let each = to_target.filter_map(|it| {
            let greeted = || only_greeted(it).filter(|_| is_asked);
            reset(it).or_else(greeted).or_else(|| only_started(it))
        });
        each.max_by(|a, b| a.turned_away.total_cmp(&b.turned_away))
    }

    /// The part of its connections.
    pub(crate) fn part(&self) -> f64 {
        self.turned_away / self.opened
    }

    /// That, from what was recorded.
    pub(crate) fn formula(&self) -> Formula {
        let growth = |column| formula::growth(&FLOW.name, &[column], formula::one(self.flow));
        let turned_away = match self.by {
            ToldBy::Reset => growth("reset"),
            ToldBy::Greeting => growth("turned_away"),
            ToldBy::Startup => {
                let twice = formula::product([formula::number(2.0), growth("opened")]);
                formula::rest(twice, growth("sends"))
            }
        };
        formula::part(turned_away, growth("opened"))
    }
}

/// Whether a client asks what this serves: the same port, or the same socket's path.
fn is_between(server: &Traffic, client: &Traffic) -> bool {
    let (server, client) = (&server.name, &client.name);
    server.port == client.port && (server.port != 0 || server.peer == client.peer)
}

/// Where a connection is one question and some were reset without an answer. Who asks nothing, or is answered on each,
/// may have closed them itself.
fn reset(flow: &Traffic) -> Option<TurnedAway> {
    let [opened, asked, answered, reset] =
        ["opened", "sends", "receives", "reset"].map(|column| flow.of(column));
    // What is asked later on the same connection makes more of both than connections.
    let unanswered = opened - answered;
    let is_asked = opened >= 1.0 && asked >= 0.9 * opened;
    let is_told = is_asked && reset > 0.0 && unanswered >= 0.5 * reset;
    is_told.then(|| TurnedAway::new(flow, reset, ToldBy::Reset))
}

/// Where connections ended before the client had sent anything, of a server that says something first. Where nobody ever
/// asks it anything, that is its way.
fn only_greeted(flow: &Traffic) -> Option<TurnedAway> {
    let turned_away = flow.of("turned_away");
    let is_told = turned_away > 0.0 && flow.of("opened") >= 1.0;
    is_told.then(|| TurnedAway::new(flow, turned_away, ToldBy::Greeting))
}

/// Where clients of PostgreSQL, or of a pooler before it, sent less than two messages a connection.
fn only_started(flow: &Traffic) -> Option<TurnedAway> {
    /// Of fewer connections nothing is said.
    const LEAST: f64 = 10.0;
    let is_postgres = matches!(&flow.name.peer, Peer::Path(path) if path.contains(".s.PGSQL."));
    let [opened, asked] = ["opened", "sends"].map(|column| flow.of(column));
    let turned_away = 2.0 * opened - asked;
    // Who does not even start is not turned away, but looks whether somebody listens.
    let is_told = is_postgres && opened >= LEAST && asked >= 0.9 * opened && turned_away > 0.0;
    is_told.then(|| TurnedAway::new(flow, turned_away, ToldBy::Startup))
}

impl TurnedAway {
    fn new(flow: &Traffic, turned_away: f64, by: ToldBy) -> Self {
        Self {
            flow: flow.id,
            opened: flow.of("opened"),
            turned_away,
            by,
        }
    }
}
