// A web server of one event loop, every request of which computes for a while. A worker thread may
// compute beside it without an end and at the lowest priority, as for a report that nobody waits for.

const http = require("node:http");
const os = require("node:os");
const { Worker, isMainThread } = require("node:worker_threads");

const [port, workUs, background] = process.argv.slice(2).map(Number);

function compute(us) {
  const end = process.hrtime.bigint() + BigInt(us) * 1000n;
  while (process.hrtime.bigint() < end);
}

function serve() {
  if (background) new Worker(__filename);
  http
    .createServer((_, response) => {
      compute(workUs);
      response.setHeader("Content-Length", 3);
      response.end("ok\n");
    })
    .listen(port, "127.0.0.1");
}

function report() {
  // On Linux this is the priority of the thread that asks.
  os.setPriority(os.constants.priority.PRIORITY_LOW);
  while (true) compute(1_000_000);
}

if (isMainThread) serve();
else report();
