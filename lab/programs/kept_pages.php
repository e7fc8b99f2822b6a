<?php
// A page that is put together for a while and then kept in a file, from which it is answered from then on. Where the file
// cannot be written the page is answered all the same, and put together again the next time.

const PAGES = 20;
const ROUNDS = 300;

function page(int $number): string
{
    $text = "page $number\n";
    for ($round = 0; $round < ROUNDS; $round++) {
        $text = substr($text . md5($text), -16384);
    }
    return $text;
}

function kept(string $file, int $number): string
{
    $text = @file_get_contents($file);
    if ($text !== false) {
        return $text;
    }
    $text = page($number);
    $new = $file . getmypid();
    if (@file_put_contents($new, $text) === strlen($text)) {
        rename($new, $file);
    } else {
        @unlink($new);
    }
    return $text;
}

$number = random_int(1, PAGES);
$text = kept(getenv('PAGES') . "/$number.html", $number);
header('Content-Length: ' . strlen($text));
echo $text;
