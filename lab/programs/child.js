// A web server whose every request computes for a while. It may have started a batch ("batch"): a process that
// computes without end, and for which no request waits.

const { spawn } = require("node:child_process");
const http = require("node:http");

const [port, workUs, batch] = process.argv.slice(2);

function compute(us) {
  const end = process.hrtime.bigint() + BigInt(us) * 1000n;
  while (process.hrtime.bigint() < end);
}

if (batch === "batch") {
  const child = spawn("sh", ["-c", "while :; do :; done"], { stdio: "ignore" });
  // Nobody else would end it.
  process.on("SIGTERM", () => {
    child.kill("SIGKILL");
    process.exit();
  });
}

http
  .createServer((_, response) => {
    compute(workUs);
    response.setHeader("Content-Length", 3);
    response.end("ok\n");
  })
  .listen(Number(port), "127.0.0.1");
