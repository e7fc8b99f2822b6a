//! When programs are at the hooks that events come at often: switches, wake-ups, sends and receives.
//!
//! Always, while they take little of the CPUs. Where events are so many that what is measured would run slower
//! for being measured, in spells of one turn each, with pauses between in which nothing is told. The pauses are of
//! random length, so that nothing periodic hides in them. What a spell has told stands for the pause after it.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use model::Timestamp;

/// What a saturated load loses by programs at its events, ns (`make bench`, workload): a switch or wake-up of
/// anybody's, what a slice of a thread of target or generator takes beyond its own, and a request at one of its ends, beyond what
/// counting it takes.
const EVENT_NS: f64 = 200.0;
const SLICE_NS: f64 = 750.0;
const REQUEST_NS: f64 = 400.0;
/// As long as they take less of the CPUs they are at their hooks always.
const MOST_SHARE: f64 = 0.02;
/// In spells they take so much.
const SHARE: f64 = 0.005;
/// How likely an on-window of the hooks that time requests is to begin in a turn, and how long it may be: they are
/// attached in a quarter of the time.
const TIMING_BEGINS: f64 = 0.12;
const MOST_TIMING_TURNS: f64 = 4.0;
/// Fewer spells than one in so many turns tell too little.
const MOST_TURNS: f64 = 20.0;
/// Without pauses the share is looked at over so many turns, and already over so few whether it is more: a load that
/// is heavy is so from its start.
const LOOK_TURNS: u64 = 10;
const LEAST_TURNS: u64 = 3;
/// Of the shares of the spells before so much is remembered.
const MEMORY: f64 = 0.7;

/// What the programs have told of so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Told {
    pub(crate) events: u64,
    pub(crate) slices: u64,
    pub(crate) requests: u64,
}

impl Told {
    fn cost_ns(self, before: Self) -> f64 {
        let grown = |now: u64, before: u64| now.saturating_sub(before) as f64;
        EVENT_NS * grown(self.events, before.events)
            + SLICE_NS * grown(self.slices, before.slices)
            + REQUEST_NS * grown(self.requests, before.requests)
    }
}

/// What was told since the last mark stands for so many times more.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Stretch {
    pub(crate) times: f64,
}

/// What is to be done in a turn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Turn {
    /// A reading as always.
    Read,
    /// The same, and from now on counts for a pause that may come.
    Mark,
    /// A pause ends; what was told since the last mark stands for it.
    Resume(Stretch),
    /// One begins, and what was told is read for the last time.
    Pause,
    /// Nothing is told.
    Rest,
}

impl Turn {
    /// Whether there is something to read.
    pub(crate) fn reads(self) -> bool {
        self != Turn::Rest
    }

    /// Whether what it meets is of a pause.
    pub(crate) fn follows_pause(self) -> bool {
        matches!(self, Turn::Resume(_) | Turn::Rest)
    }

    /// For how much what was told since the mark before stands; and here is the next mark.
    pub(crate) fn stretch(self) -> Option<Stretch> {
        match self {
            Turn::Mark => Some(Stretch { times: 0.0 }),
            Turn::Resume(stretch) => Some(stretch),
            Turn::Read | Turn::Pause | Turn::Rest => None,
        }
    }

    /// So many times more.
    pub(crate) fn times(self) -> Option<f64> {
        self.stretch().map(|it| it.times)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// So many turns without a mark are left.
    Always(u64),
    Spell,
    /// So many turns of rest are left, once that is known.
    Pause(Option<u64>),
}

/// When spells begin and end.
pub(crate) struct Spells {
    pauses: bool,
    cpus: f64,
    state: State,
    /// When it began.
    since: Timestamp,
    /// What had been told when the spell began, or at the last mark.
    told: Told,
    /// How long the last spell was, ns.
    spell_ns: i64,
    /// Part of the CPUs that the programs take while they are at their hooks.
    share: f64,
    random: RandomState,
    draws: u64,
    /// Turns that are left of an on-window of the hooks that time requests.
    timing_turns: u64,
    /// Time at the hooks and in pauses, ns, without what lasts.
    told_ns: i64,
    paused_ns: i64,
}

impl Spells {
    /// Without pauses all is told, whatever it takes.
    pub(crate) fn new(pauses: bool) -> Self {
        Self {
            pauses,
            cpus: std::thread::available_parallelism().map_or(1, usize::from) as f64,
            state: State::Always(LOOK_TURNS),
            since: Timestamp::default(),
            told: Told::default(),
            spell_ns: 0,
            share: 0.0,
            random: RandomState::new(),
            draws: 0,
            timing_turns: 0,
            told_ns: 0,
            paused_ns: 0,
        }
    }

    /// Whether the hooks that only time requests are to be attached until the next turn. Under a heavy load they have
    /// on-windows of their own, while all else is off: with all of it attached a request takes a seventh longer.
    pub(crate) fn times_requests(&mut self) -> bool {
        match self.state {
            State::Always(_) => return true,
            State::Spell => self.timing_turns = 0,
            State::Pause(_) if self.timing_turns > 0 => self.timing_turns -= 1,
            State::Pause(_) => {
                if self.draw() < TIMING_BEGINS {
                    self.timing_turns = 1 + (self.draw() * MOST_TIMING_TURNS) as u64;
                }
            }
        }
        self.timing_turns > 0
    }

    /// What the turn is that comes, of which there is another unless it is the `last`; `told` is as of the turns
    /// before.
    pub(crate) fn turn(&mut self, now: Timestamp, told: Told, last: bool) -> Turn {
        if self.since == Timestamp::default() {
            self.begin(State::Always(LOOK_TURNS), now);
            self.told = told;
            return Turn::Mark;
        }
        match self.state {
            State::Always(left) if !last && (left == 0 || self.is_dear(left, now, told)) => {
                self.share = self.taken(now.ns_since(self.since), told);
                self.end_spell(now);
                if self.pauses && self.share > MOST_SHARE {
                    self.begin(State::Pause(None), now);
                    return Turn::Pause;
                }
                self.begin(State::Always(LOOK_TURNS), now);
                self.told = told;
                Turn::Mark
            }
            State::Always(left) => {
                self.state = State::Always(left.saturating_sub(1));
                Turn::Read
            }
            State::Spell => {
                self.end_spell(now);
                self.begin(State::Pause(None), now);
                Turn::Pause
            }
            State::Pause(left) => match left.unwrap_or_else(|| self.pause_turns(told)) {
                left @ 1.. if !last => {
                    self.state = State::Pause(Some(left - 1));
                    Turn::Rest
                }
                _ => self.end_pause(now, told),
            },
        }
    }

    /// How many turns the pause has that has just begun, between that and the one that ends it. The spell's last
    /// reading was made after it had ended.
    fn pause_turns(&mut self, told: Told) -> u64 {
        let share = self.taken(self.spell_ns, told);
        self.share += (share - self.share) * (1.0 - MEMORY);
        let turns = (self.share / SHARE).min(MOST_TURNS) - 1.0;
        // Half as many to half as many more.
        (turns * (0.5 + self.draw()) - 1.0).max(0.0).round() as u64
    }

    /// Whether it is clear before all turns have passed that there must be pauses.
    fn is_dear(&self, left: u64, now: Timestamp, told: Told) -> bool {
        let turns = LOOK_TURNS - left + 1;
        turns >= LEAST_TURNS && self.taken(now.ns_since(self.since), told) > MOST_SHARE
    }

    /// Part of the CPUs that the programs took in so long, up to what they have told now.
    fn taken(&self, ns: i64, told: Told) -> f64 {
        told.cost_ns(self.told) / (ns.max(1) as f64 * self.cpus)
    }

    fn end_spell(&mut self, now: Timestamp) {
        self.spell_ns = now.ns_since(self.since);
        self.told_ns += self.spell_ns;
    }

    fn end_pause(&mut self, now: Timestamp, told: Told) -> Turn {
        let pause_ns = now.ns_since(self.since);
        self.paused_ns += pause_ns;
        let next = if self.share > MOST_SHARE {
            State::Spell
        } else {
            State::Always(LOOK_TURNS)
        };
        self.begin(next, now);
        self.told = told;
        Turn::Resume(Stretch {
            times: pause_ns as f64 / self.spell_ns.max(1) as f64,
        })
    }

    fn begin(&mut self, state: State, now: Timestamp) {
        self.state = state;
        self.since = now;
    }

    /// A spell that has ended took until now: it was read once more.
    pub(crate) fn paused(&mut self, now: Timestamp) {
        let more_ns = now.ns_since(self.since);
        self.spell_ns += more_ns;
        self.told_ns += more_ns;
        self.since = now;
    }

    /// A pause that has ended took until now: the programs had to come to their hooks.
    pub(crate) fn resumed(&mut self, now: Timestamp) {
        self.paused_ns += now.ns_since(self.since);
        self.since = now;
    }

    /// From 0 to 1.
    fn draw(&mut self) -> f64 {
        self.draws += 1;
        let mut hasher = self.random.build_hasher();
        hasher.write_u64(self.draws);
        hasher.finish() as f64 / u64::MAX as f64
    }

    /// Time at the hooks so far, ns.
    pub(crate) fn told_ns(&self, now: Timestamp) -> i64 {
        match self.state {
            State::Pause(_) => self.told_ns,
            State::Always(_) | State::Spell => self.told_ns + now.ns_since(self.since),
        }
    }

    /// Time in pauses so far, ns.
    pub(crate) fn paused_ns(&self, now: Timestamp) -> i64 {
        match self.state {
            State::Pause(_) => self.paused_ns + now.ns_since(self.since),
            State::Always(_) | State::Spell => self.paused_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::TICK_NS;

    const TICK: i64 = TICK_NS;

    /// Turns of 100 ms of a load at so many events a second, which are told of at the hooks only.
    struct Load {
        spells: Spells,
        now: Timestamp,
        told: Told,
        is_told: bool,
    }

    impl Load {
        fn new() -> Self {
            Self {
                spells: Spells {
                    cpus: 2.0,
                    ..Spells::new(true)
                },
                now: Timestamp::from_ns(7 * TICK),
                told: Told::default(),
                is_told: true,
            }
        }

        fn turn(&mut self, a_second: u64) -> Turn {
            self.now = self.now + TICK;
            if self.is_told {
                self.told.events += a_second / 10;
                self.told.slices += a_second / 20;
                self.told.requests += a_second / 20;
            }
            let turn = self.spells.turn(self.now, self.told, false);
            self.is_told = match turn {
                Turn::Resume(_) => true,
                Turn::Pause | Turn::Rest => false,
                Turn::Read | Turn::Mark => self.is_told,
            };
            turn
        }

        fn turns(&mut self, count: usize, a_second: u64) -> Vec<Turn> {
            (0..count).map(|_| self.turn(a_second)).collect()
        }
    }

    #[test]
    fn a_load_that_programs_hardly_slow_down_has_no_pauses() {
        let mut load = Load::new();
        let turns = load.turns(300, 40_000);
        assert!(turns.iter().all(|it| matches!(it, Turn::Read | Turn::Mark)));
        assert_eq!(load.spells.paused_ns(load.now), 0);
        assert_eq!(load.spells.told_ns(load.now), 299 * TICK);
    }

    #[test]
    fn of_one_that_they_do_slow_down_they_tell_in_spells_that_take_their_share() {
        let mut load = Load::new();
        // 8.75 % of two CPUs.
        let turns = load.turns(3_000, 200_000);
        let (told, paused) = (
            load.spells.told_ns(load.now),
            load.spells.paused_ns(load.now),
        );
        let part = told as f64 / (told + paused) as f64;
        assert!((0.05..0.07).contains(&part), "{part}");
        let lasts = turns
            .windows(2)
            .filter(|it| matches!(it[0], Turn::Resume(_)));
        assert!(lasts.clone().all(|it| it[1] == Turn::Pause), "a turn each");
        assert!(lasts.count() > 140);
        let pauses: Vec<_> = turns
            .split(|it| *it != Turn::Rest)
            .map(<[_]>::len)
            .collect();
        let most = pauses.iter().max();
        assert!((17..26).contains(most.expect("there are some")), "{most:?}");
        // What the spells stand for is all of the time, but for the pause that lasts and the one after the first,
        // longer spell.
        let stood_for: f64 = turns.iter().filter_map(|it| it.times()).sum();
        let left = paused as f64 / TICK as f64 - stood_for;
        assert!((0.0..2.0 * 26.0).contains(&left), "{left}");
    }

    #[test]
    fn a_load_that_begins_heavily_is_not_told_of_for_long() {
        for idle in 0..25 {
            let mut load = Load::new();
            load.turns(idle, 0);
            let turns = load.turns(8, 200_000);
            let first = turns.iter().position(|it| *it == Turn::Pause);
            assert!(first.is_some_and(|it| it <= 5), "{idle}: {turns:?}");
        }
    }

    #[test]
    fn when_the_load_is_over_the_pauses_are() {
        let mut load = Load::new();
        load.turns(100, 200_000);
        let turns = load.turns(120, 1_000);
        assert!(turns.contains(&Turn::Rest), "not at once");
        // Five pauses at most, each of seven tenths of the one before, and half as long again.
        assert!(
            turns[80..]
                .iter()
                .all(|it| matches!(it, Turn::Read | Turn::Mark))
        );
    }

    #[test]
    fn the_last_turn_ends_a_pause() {
        let mut load = Load::new();
        while load.turn(200_000) != Turn::Rest {}
        let turn = load.spells.turn(load.now + TICK, load.told, true);
        assert!(matches!(turn, Turn::Resume(_)), "{turn:?}");
    }
}
