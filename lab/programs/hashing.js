// A web server that hashes a password with each request. That is done beside the event loop, by the
// pool of threads of libuv, of which there are UV_THREADPOOL_SIZE.

const crypto = require("node:crypto");
const http = require("node:http");

const [port, rounds] = process.argv.slice(2).map(Number);

http
  .createServer((_, response) => {
    crypto.pbkdf2("password", "salt", rounds, 32, "sha256", (error) => {
      response.statusCode = error ? 500 : 200;
      response.setHeader("Content-Length", 3);
      response.end("ok\n");
    });
  })
  .listen(port, "127.0.0.1");
