// A web server that asks a service on a unix socket once for each page, as one does that renders pages of what an
// interface of somebody else's returns. It listens on all addresses.

const http = require("node:http");

const [port, socketPath] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true });

function end(response, status, text) {
  response.statusCode = status;
  response.setHeader("Content-Length", text.length);
  response.end(text);
}

http
  .createServer((_, response) => {
    http
      .get({ socketPath, path: "/", agent }, (answer) => {
        answer.resume();
        answer.on("end", () => end(response, 200, "ok\n"));
      })
      .on("error", (error) => end(response, 502, `${error.message}\n`));
  })
  .listen(Number(port), "0.0.0.0");
