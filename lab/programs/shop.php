<?php
// A page of a shop: it is put together, which takes some ms of CPU, and a plugin asks a service of somebody else for
// something each time.

const ROUNDS = 12000;

$text = '';
for ($round = 0; $round < ROUNDS; $round++) {
    $text = md5($text . $round);
}
$said = file_get_contents('http://' . getenv('SERVICE') . '/', false, stream_context_create([
    'http' => ['protocol_version' => '1.1', 'header' => 'Connection: close', 'timeout' => 5],
]), 0, 3);
$answer = $text . ' ' . $said;
header('Content-Length: ' . strlen($answer));
echo $answer;
