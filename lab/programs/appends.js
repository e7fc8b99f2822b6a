// A web server that notes each request in a file before it answers, as for an audit. How the file is
// opened says whether a write returns at once ("a") or when the disk has it ("as", which is O_SYNC): then
// nobody calls fsync, and each write waits as if it had.

const fs = require("node:fs");
const http = require("node:http");

const [port, path, flag] = process.argv.slice(2);
const record = Buffer.alloc(512, "x");
const file = fs.openSync(path, flag);

http
  .createServer((_, response) => {
    fs.write(file, record, (error) => {
      response.statusCode = error ? 500 : 200;
      response.setHeader("Content-Length", 3);
      response.end("ok\n");
    });
  })
  .listen(Number(port), "127.0.0.1");
