//! Trouble that comes and goes, and the process that answers.

use super::*;

/// An application that is asked where nobody answers.
fn nowhere() -> Application {
    let place = "host=/nowhere user=u".to_owned();
    let places = [(sources::Application::Postgres, place)];
    let mut found = sources(&places).unwrap_or_else(|error| panic!("{error}"));
    let owners = Owners {
        fallback: EntityId(0),
        named: EntityId(1),
    };
    Application::ask(found.remove(0), "/proc".into(), owners, drop)
}

#[test]
fn trouble_that_comes_again_is_a_gap_each_time_and_said_once() {
    let mut application = nowhere();
    let mut said = Vec::new();
    let mut flap = |application: &mut Application, polls: usize| {
        let trouble = Trouble {
            kind: TroubleKind::Away,
            sentence: "it was too busy".to_owned(),
        };
        said.extend(application.receive(Message::Trouble(trouble)).sentences);
        for _ in 0..polls {
            let poll = Box::new(Poll::default());
            application.receive(Message::Poll(kernel::boottime(), poll));
        }
    };
    (0..3).for_each(|_| flap(&mut application, 2));
    assert_eq!(application.gaps().len(), 3 * 2);
    // With one poll between two losses nothing lies between them.
    (0..10).for_each(|_| flap(&mut application, 1));
    assert_eq!(application.gaps().len(), 4 * 2);
    (0..500).for_each(|_| flap(&mut application, 2));
    assert!(application.gaps().len() <= 200);
    let heard = application.heard;
    let ends = application.gaps().iter().filter_map(|gap| gap.window);
    let latest = ends.map(|window| window.end).max();
    assert!(latest.is_some_and(|end| end <= heard && heard.ns_since(end) < 1_000_000_000));
    assert_eq!(said, ["it was too busy"]);
}

#[test]
fn whoever_answers_us_is_introduced_once_and_at_once() {
    let mut application = nowhere();
    application.answerer = Some(Answerer {
        pid: 7,
        started: None,
        is_ours: true,
        root: Some(7),
    });
    let poll = |application: &mut Application| {
        let values = vec![0; application.tables.server.columns.len()];
        let poll = Poll {
            server: values,
            ..Poll::default()
        };
        let news = application.receive(Message::Poll(kernel::boottime(), Box::new(poll)));
        assert!(news.rows.is_empty(), "rows wait for the entity list");
        news.own
    };
    assert_eq!(poll(&mut application), None, "not in the entity list yet");
    let time = Timestamp::from_ns(0);
    let entity = model::Entity::new(model::EntityKind::Process, "postgres", "pid:7@100");
    let record = model::EntityRecord::new(EntityId(5), entity, time);
    application.note(&[EntityEvent { time, record }]);
    let again = [poll(&mut application), poll(&mut application)];
    assert_eq!(again, [Some(7), None]);
}
