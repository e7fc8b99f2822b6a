<?php
// The front page of a site, which is put together for some ms of CPU for each visitor ("new"), or is kept in a file and
// read from there once that has been done ("kept").

const ROUNDS = 12000;

function page(): string
{
    $text = '';
    for ($round = 0; $round < ROUNDS; $round++) {
        $text = md5($text . $round);
    }
    return $text . "\n";
}

[$folder, $word] = explode(' ', getenv('FRONT'));
$file = "$folder/front.html";
$text = $word === 'kept' ? @file_get_contents($file) : false;
if ($text === false) {
    $text = page();
    if ($word === 'kept') {
        $new = $file . getmypid();
        file_put_contents($new, $text);
        rename($new, $file);
    }
}
header('Content-Length: ' . strlen($text));
echo $text;
