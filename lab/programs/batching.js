// A web server that answers requests together: it collects what comes within so many ms of a first one, looks all of it
// up at once, and answers, as services do that spare another one many small questions. Looking up takes no time here.

const http = require("node:http");

const [port, windowMs] = process.argv.slice(2).map(Number);
let waiting = [];

function answer() {
  const batch = waiting;
  waiting = [];
  for (const response of batch) {
    response.setHeader("Content-Length", 3);
    response.end("ok\n");
  }
}

http
  .createServer((_, response) => {
    waiting.push(response);
    if (waiting.length > 1) return;
    if (windowMs) setTimeout(answer, windowMs);
    else setImmediate(answer);
  })
  .listen(port, "127.0.0.1");
