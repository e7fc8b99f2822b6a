// A web server of one event loop that asks another service with each request. A timer has the loop compute sums for a
// dashboard, again and again, and whatever comes meanwhile waits.

const http = require("node:http");

const [port, service, computeMs, pauseMs] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true });

function compute() {
  const end = performance.now() + Number(computeMs);
  while (performance.now() < end);
  setTimeout(compute, Number(pauseMs));
}

function end(response, status, text) {
  response.statusCode = status;
  response.setHeader("Content-Length", text.length);
  response.end(text);
}

if (Number(computeMs)) compute();
http
  .createServer((_, response) => {
    http
      .get(`http://${service}/`, { agent }, (answer) => {
        answer.resume();
        answer.on("end", () => end(response, 200, "ok\n"));
      })
      .on("error", (error) => end(response, 502, `${error.message}\n`));
  })
  .listen(Number(port), "127.0.0.1");
