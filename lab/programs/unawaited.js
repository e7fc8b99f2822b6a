// A web server whose every request computes for a while. Beside that it sends reports to another service, so
// many at a time, again and again, and no request waits for any of them.

const http = require("node:http");

const [port, workUs, service, reports] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true });

function compute(us) {
  const end = process.hrtime.bigint() + BigInt(us) * 1000n;
  while (process.hrtime.bigint() < end);
}

function report() {
  http
    .get(`http://${service}/`, { agent }, (answer) => {
      answer.resume();
      answer.on("end", report);
    })
    .on("error", () => process.exit(1));
}

for (let number = 0; number < Number(reports); number++) report();

http
  .createServer((_, response) => {
    compute(workUs);
    response.setHeader("Content-Length", 3);
    response.end("ok\n");
  })
  .listen(Number(port), "127.0.0.1");
