<?php
// A page that reports what it has seen to a collector of events and waits until that has it, as a reporter does that
// sends its events before the answer, over a new connection each time.

$event = json_encode(['level' => 'warning', 'message' => 'Undefined array key "coupon"']);
$question = "POST /envelope HTTP/1.1\r\nHost: collector\r\nContent-Length: " . strlen($event) . "\r\n\r\n$event";
$collector = stream_socket_client('tcp://' . getenv('COLLECTOR'), $code, $why, 5);
fwrite($collector, $question);
$answer = '';
while (!str_ends_with($answer, "ok\n") && ($more = fread($collector, 4096))) {
    $answer .= $more;
}
fclose($collector);
$text = "cart\n";
header('Content-Length: ' . strlen($text));
echo $text;
