<?php
// A page that takes an order: it asks the service that takes the money, and then writes the order to a file, of which the
// page makes sure that the disk has it, where it is told to do so.

[$service, $folder, $syncs] = explode(' ', trim(getenv('ORDERS')));
$said = file_get_contents("http://$service/", false, stream_context_create([
    'http' => ['protocol_version' => '1.1', 'header' => 'Connection: close', 'timeout' => 5],
]), 0, 3);
// Each process has a file of its own, so that none waits for another one's.
$file = fopen("$folder/orders-" . getmypid(), 'a');
foreach (['order', 'invoice'] as $line) {
    fwrite($file, $line . str_repeat('.', 500) . "\n");
    if ($syncs === 'yes') {
        fsync($file);
    }
}
fclose($file);
header('Content-Length: ' . strlen($said));
echo $said;
