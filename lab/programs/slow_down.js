// A web server that slows down who asks too often: it lets the requests of an address through at a steady rate and holds
// each that comes earlier back until it is due, by a timer of the event loop: nothing waits but the answer. A rate of 0 is
// none.

const http = require("node:http");

const [port, rate] = process.argv.slice(2).map(Number);
const due = new Map();

function wait(address) {
  if (rate === 0) {
    return 0;
  }
  const now = performance.now();
  const at = Math.max(now, due.get(address) ?? 0);
  due.set(address, at + 1000 / rate);
  return at - now;
}

http
  .createServer((request, response) => {
    const answer = () => {
      response.setHeader("Content-Length", 3);
      response.end("ok\n");
    };
    const ms = wait(request.socket.remoteAddress);
    if (ms > 0) {
      setTimeout(answer, ms);
    } else {
      answer();
    }
  })
  .listen(port, "127.0.0.1");
