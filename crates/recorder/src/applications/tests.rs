//! Trouble that comes and goes.

use super::*;

#[test]
fn trouble_that_comes_again_is_a_gap_each_time_and_said_once() {
    let nowhere = [(
        sources::Application::Postgres,
        "host=/nowhere user=u".to_owned(),
    )];
    let mut nowhere = sources(&nowhere).unwrap_or_else(|error| panic!("{error}"));
    let owners = Owners {
        fallback: EntityId(0),
        series: EntityId(1),
    };
    let mut application = Application::ask(nowhere.remove(0), "/proc".into(), owners, drop);
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
