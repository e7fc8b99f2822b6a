// A web server that does the work of a request under a lock in Redis: a key that is there only while somebody has it. Who
// does not get it asks again after a while. All requests want the same key ("one"), or each has its own ("own").

const http = require("node:http");
const net = require("node:net");
const { setTimeout: sleep } = require("node:timers/promises");

const [port, redisPort, keys, againMs, workMs] = process.argv.slice(2);
const redis = net.connect(Number(redisPort), "127.0.0.1");
const waiting = [];
let read = "";
let requests = 0;

redis.setNoDelay(true);
// Each answer that is asked for here is one line.
redis.on("data", (piece) => {
  read += piece;
  const lines = read.split("\r\n");
  read = lines.pop();
  for (const line of lines) {
    waiting.shift()(line);
  }
});

function command(text) {
  return new Promise((resolve) => {
    waiting.push(resolve);
    redis.write(`${text}\r\n`);
  });
}

async function work() {
  requests += 1;
  const key = keys === "one" ? "lock" : `lock-${requests}`;
  while ((await command(`SET ${key} held NX PX 10000`)) !== "+OK") {
    await sleep(Number(againMs));
  }
  await sleep(Number(workMs));
  await command(`DEL ${key}`);
}

http
  .createServer(async (_, response) => {
    await work();
    response.setHeader("Content-Length", 3);
    response.end("ok\n");
  })
  .listen(Number(port), "127.0.0.1");
