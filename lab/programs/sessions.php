<?php
// A page of somebody who has a session, whose file PHP keeps locked until the page is done, or until the page says that it
// has read what it wants. Then the page waits for a report that takes its time elsewhere.

[$folder, $kept] = explode(' ', trim(getenv('SESSIONS')));
session_save_path($folder);
session_start();
$pages = $_SESSION['pages'] = ($_SESSION['pages'] ?? 0) + 1;
if ($kept === 'closed') {
    session_write_close();
}
usleep(10000);
$answer = "ok\n";
header('Content-Length: ' . strlen($answer));
echo $answer;
