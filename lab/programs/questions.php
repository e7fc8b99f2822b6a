<?php
// A page for which a cache is asked for one thing after the other, as code does that asks in a loop. The connection
// stays open from one page to the next.

const QUESTIONS = 25;

$cache = new Redis();
[$host, $port] = explode(':', getenv('CACHE'));
$cache->pconnect($host, (int) $port, 5.0);
$text = '';
for ($number = 0; $number < QUESTIONS; $number++) {
    $text .= $number . '=' . ($cache->get("item:$number") ?: 'none') . "\n";
}
header('Content-Length: ' . strlen($text));
echo $text;
