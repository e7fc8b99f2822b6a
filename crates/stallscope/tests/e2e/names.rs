//! Names of other people's programs are theirs to choose: none of them may command a terminal.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::needs;
use crate::place::{JSON, Place};
use crate::process::{Ended, Running};

/// Turns a terminal red, then tries a page.
const NAME: &str = "\u{1b}[31m<script>";

/// The program under that name, so that the kernel knows it by it.
fn disguised(place: &Place, program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file());
    let Some(found) = found else {
        needs::skip(&format!("there is no {program} in PATH"));
        return None;
    };
    let disguise = place.path().join(NAME);
    symlink(found, &disguise).expect("the folder is ours");
    Some(disguise)
}

#[track_caller]
fn nothing_commands_the_terminal(ended: &Ended) {
    let text = ended.out_text() + &ended.err_text();
    let control = text
        .chars()
        .find(|c| c.is_control() && !"\n\t".contains(*c));
    assert_eq!(control, None, "{text:?}");
}

#[test]
fn a_server_with_such_a_name_is_announced_and_offered_harmless() {
    const SERVER: &str = "use IO::Socket::INET; $| = 1;
        my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1') or die;
        print $s->sockport, \"\\n\"; open(F, '>', 'port'); print F $s->sockport, \"\\n\"; close F;
        while (my $c = $s->accept) { while (sysread($c, my $b, 1)) { syswrite($c, $b) } }";
    const CLIENT: &str = "use IO::Socket::INET;
        my $c = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $ARGV[0]) or die;
        my $end = time + 4; while (time < $end) { syswrite($c, 'x'); sysread($c, my $b, 1) }";
    let place = Place::new();
    let Some(program) = disguised(&place, "perl") else {
        return;
    };
    let mut server = std::process::Command::new(program);
    server.current_dir(place.path()).args(["-e", SERVER]);
    // Killed when the test ends.
    let _server = Running::start(server);
    let port = place.wait_for("port");
    let load = [
        "run",
        "--json",
        JSON,
        "--",
        "perl",
        "-e",
        CLIENT,
        port.trim(),
    ];
    let ended = place.run(&load);
    ended.status(0).says("<script>");
    nothing_commands_the_terminal(&ended);
    let refused = place.run(&["run", "--target", "port:1", "--", "true"]);
    nothing_commands_the_terminal(refused.status(125));
}
