// A web server of one event loop at which users log in. A password is hashed as one should, in so many rounds, by a call
// that returns when it is done, on the event loop; or the hash is kept, and nothing is left to be done.

const crypto = require("node:crypto");
const http = require("node:http");

const [port, rounds] = process.argv.slice(2).map(Number);

http
  .createServer((_, response) => {
    if (rounds > 0) {
      crypto.pbkdf2Sync("password", "salt", rounds, 64, "sha512");
    }
    response.setHeader("Content-Length", 3);
    response.end("ok\n");
  })
  .listen(port, "127.0.0.1");
