// A service that notes each request in a file which no other request has at that time, in so many steps one after the other,
// and waits until the disk has each ("sync"), or leaves that to the kernel ("later"). It listens on all addresses.
//
// notes.js PORT FOLDER sync|later STEPS

const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");

const [port, folder, word, steps] = process.argv.slice(2);
const line = Buffer.alloc(512, "x");
const free = [];

for (let number = 0; number < 8; number++) {
  free.push(fs.openSync(path.join(folder, `notes-${number}`), "a"));
}

function note(file, left, done) {
  const next = () => (left > 1 ? note(file, left - 1, done) : done());
  fs.write(file, line, () => (word === "sync" ? fs.fsync(file, next) : next()));
}

http
  .createServer((_, response) => {
    const file = free.pop();
    note(file, Number(steps), () => {
      free.push(file);
      response.setHeader("Content-Length", 3);
      response.end("ok\n");
    });
  })
  .listen(Number(port), "0.0.0.0");
