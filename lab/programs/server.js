// A web server of one event loop. Every request computes for a while, and one of many for so long that
// all others wait for it.

const http = require("node:http");

const [port, workUs, every, blockUs] = process.argv.slice(2).map(Number);
let requests = 0;

function compute(us) {
  const end = process.hrtime.bigint() + BigInt(us) * 1000n;
  while (process.hrtime.bigint() < end);
}

http
  .createServer((_, response) => {
    requests += 1;
    compute(requests % every === 0 ? blockUs : workUs);
    response.setHeader("Content-Length", 3);
    response.end("ok\n");
  })
  .listen(port, "127.0.0.1");
