// A load generator of one event loop: it asks Redis over a few connections, and works on each answer
// before it asks again. It says what it did at its end, and nothing before.

const net = require("node:net");

const [port, connections, seconds, workUs] = process.argv.slice(2).map(Number);
const start = process.hrtime.bigint();
let done = 0;
let took = 0;

const since = (from) => Number(process.hrtime.bigint() - from) / 1e9;

function work() {
  const end = process.hrtime.bigint() + BigInt(workUs) * 1000n;
  while (process.hrtime.bigint() < end);
}

function sum() {
  const span = since(start);
  const [rate, mean] = [done / span, (took / done) * 1000];
  console.log(`total: ${span.toFixed(1)} s, ${rate.toFixed(1)} tps, lat ${mean.toFixed(3)} ms`);
  process.exit(0);
}

for (let connection = 0; connection < connections; connection++) {
  let asked;
  const socket = net.connect({ port, host: "127.0.0.1", noDelay: true });
  const ask = () => {
    asked = process.hrtime.bigint();
    socket.write("GET key\r\n");
  };
  socket.on("connect", ask);
  // There is no such key, and the answer is a line that fits into one packet.
  socket.on("data", () => {
    done += 1;
    took += since(asked);
    work();
    if (since(start) >= seconds) sum();
    ask();
  });
}
