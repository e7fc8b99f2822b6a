// A web server, on all addresses, that notes each request in three lines of a file of which no other request has need at
// that time, one after the other, and waits until the disk has each ("sync"), or leaves that to the kernel ("later").

const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");

const [port, folder, word] = process.argv.slice(2);
const line = Buffer.alloc(512, "x");
const free = [];
const LINES = 3;

for (let number = 0; number < 8; number++) {
  free.push(fs.openSync(path.join(folder, `audit-${number}`), "a"));
}

function note(file, lines, done) {
  const next = () => (lines > 1 ? note(file, lines - 1, done) : done());
  fs.write(file, line, () => (word === "sync" ? fs.fsync(file, next) : next()));
}

http
  .createServer((_, response) => {
    const file = free.pop();
    note(file, LINES, () => {
      free.push(file);
      response.setHeader("Content-Length", 3);
      response.end("ok\n");
    });
  })
  .listen(Number(port), "0.0.0.0");
