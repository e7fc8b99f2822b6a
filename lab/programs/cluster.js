// A web server of several processes, each with an event loop of its own. The first one deals out the
// connections by turns and does nothing else; every request computes for a while. It says when all of
// them are ready.

const cluster = require("node:cluster");
const http = require("node:http");
const net = require("node:net");

const [port, count, workUs] = process.argv.slice(2).map(Number);

function deal() {
  const workers = Array.from({ length: count }, () => cluster.fork());
  let turn = 0;
  const server = net.createServer({ pauseOnConnect: true }, (connection) => {
    workers[turn++ % count].send("connection", connection);
  });
  let ready = 0;
  cluster.on("message", () => {
    ready += 1;
    if (ready === count) server.listen(port, "127.0.0.1", () => console.log("ready"));
  });
}

function answer(_, response) {
  const end = process.hrtime.bigint() + BigInt(workUs) * 1000n;
  while (process.hrtime.bigint() < end);
  response.setHeader("Content-Length", 3);
  response.end("ok\n");
}

function serve() {
  const server = http.createServer(answer);
  process.on("message", (_, connection) => {
    server.emit("connection", connection);
    connection.resume();
  });
  process.send("ready");
}

if (cluster.isPrimary) deal();
else serve();
