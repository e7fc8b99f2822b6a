//! Plans that make sense, and those that do not.

use super::*;

fn plan(set: &[&str], command: &[&str]) -> Plan {
    Plan {
        parameters: set
            .iter()
            .map(|it| it.parse().expect("a parameter"))
            .collect(),
        command: command.iter().map(OsString::from).collect(),
        apply: vec!["set {b} {a}".to_owned()],
        prepare: Vec::new(),
        cleanup: Vec::new(),
        repeat: 1,
        goal: None,
        cool_down: COOL_DOWN,
        budget: None,
        options: Vec::new(),
        targets: Vec::new(),
    }
}

#[test]
fn braces_are_filled_once_and_others_stay() {
    let plan = plan(
        &["a=1,2", "b={a},x"],
        &["load", "-c{a}", "{c}{b}", "{", "{a"],
    );
    assert_eq!(
        plan.configurations(),
        [["1", "{a}"], ["1", "x"], ["2", "{a}"], ["2", "x"]]
    );
    let values = &plan.configurations()[0];
    assert_eq!(
        plan.command(values, None),
        ["load", "-c1", "{c}{a}", "{", "{a"]
    );
    assert_eq!(plan.shells(&plan.apply, values, None), ["set {a} 1"]);
    assert!(plan.check().is_ok());
}

#[test]
fn braces_are_shown_and_secrets_are_not() {
    let plan = plan(
        &["a=1,2", "b=s3cret"],
        &[
            "mysqlslap",
            "--concurrency",
            "{a}",
            "--password={b}",
            "-ps3cret",
        ],
    );
    let shown = plan.shown();
    assert!(shown.contains("--concurrency {a}"), "{shown}");
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[test]
fn a_shell_command_is_shown_as_it_can_be_typed_again() {
    let plan = plan(&["instances=1,2", "a=90M"], &["load"]);
    let typed = "/a/node.sh start /b {instance} {a} 0.125 | tail -1";
    assert_eq!(plan.shown_shell(typed), typed);
    let shown = plan.shown_shell("PGPASSWORD=s3cret psql -c 'SELECT {a}'");
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[test]
fn what_makes_no_sense_is_told() {
    let said = |plan: Plan| plan.check().expect_err("it makes none").to_string();
    assert!(said(plan(&["a=1"], &[])).contains("no command"));
    assert!(said(plan(&[], &["x"])).contains("nothing is varied"));
    assert!(said(plan(&["a=1", "a=2"], &["x"])).contains("set twice"));
    assert!(said(plan(&["z=1"], &["x"])).contains("{z} stands in no command"));
    let goal = Some(parse_goal("p99<1s").expect("a goal"));
    let with_goal = |set: &[&str]| Plan {
        goal,
        ..plan(set, &["x"])
    };
    assert!(said(with_goal(&["a=1", "b=2"])).contains("2 are set"));
    assert!(said(with_goal(&["a=x"])).contains("whole numbers"));
    let many = plan(&["a=1..200", "b=1..200"], &["x"]);
    assert!(said(many).contains("40000 configurations"));
}

#[test]
fn instances_and_their_limits_stand_in_no_command() {
    let plan = plan(
        &["instances=1,3", "quota+cpus=0.5/1,none/0", "a=x", "b=y"],
        &["load", "-p{instance}", "{a}"],
    );
    plan.check().expect("it makes sense");
    let values = &plan.configurations()[2];
    assert_eq!(plan.instances(values), Some(3));
    let limits = plan.limits(values);
    let expected = [
        capacity::Limit::Quota(Some(0.5)),
        capacity::Limit::Cpus("1".to_owned()),
    ];
    assert_eq!(limits, expected);
    assert_eq!(plan.command(values, Some(2)), ["load", "-p2", "x"]);
    assert_eq!(plan.shown(), "load -p{instance} {a}");
}

#[test]
fn instances_that_cannot_be_are_told() {
    let said = |set: &[&str], command: &[&str]| {
        let plan = Plan {
            apply: Vec::new(),
            ..plan(set, command)
        };
        plan.check().expect_err("it makes no sense").to_string()
    };
    assert!(said(&["instances=0,1"], &["x"]).contains("`0` is no number of instances"));
    assert!(said(&["quota=1"], &["x"]).contains("--set instances=1"));
    assert!(said(&["instances+quota=1/2,2/x"], &["x"]).contains("a number of CPUs"));
    assert!(said(&["instances=1", "quota=lots"], &["x"]).contains("a number of CPUs"));
    assert!(said(&["a=1"], &["x{a}{instance}"]).contains("there are no instances"));
    assert!(said(&["instances=1"], &["x", "---"]).contains("cannot be an argument"));
    // With braces it is a word like any other.
    let plan = plan(&["quota=lots", "a=1", "b=1"], &["x", "{quota}"]);
    assert!(plan.check().is_ok());
}

#[test]
fn a_file_has_the_keys_of_the_options() {
    let text = "command = 'pgbench -c {clients}'\nset = ['clients=1,2']\nrepeat = 2\nslo = 'p99<1ms'\ncool-down = '2s'\nworkload = 'pgbench'";
    let file: File = toml::from_str(text).expect("a plan");
    assert_eq!((file.repeat, file.set.len()), (Some(2), 1));
    let unknown = toml::from_str::<File>("clients = 3").expect_err("no key");
    assert!(unknown.to_string().contains("clients"), "{unknown}");
}
