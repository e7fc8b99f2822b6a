<?php
// A page one of whose plugins asks a service of somebody else's whether its licence is still good, with each visit and over
// a connection of its own, and the visitor waits for that.

$service = getenv('LICENCES');
$said = file_get_contents("http://$service/", false, stream_context_create([
    'http' => ['protocol_version' => '1.1', 'header' => 'Connection: close', 'timeout' => 5],
]), 0, 3);
$text = $said === false ? "expired\n" : "welcome\n";
header('Content-Length: ' . strlen($text));
echo $text;
