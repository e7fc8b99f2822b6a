// A web server that asks another service once for each request, over no more connections than its agent may open.
// Who finds none free waits in a list of the program's own, which no thread and no socket shows.

const http = require("node:http");

const [port, service, connections] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true, maxSockets: Number(connections) });

function end(response, status, text) {
  response.statusCode = status;
  response.setHeader("Content-Length", text.length);
  response.end(text);
}

http
  .createServer((_, response) => {
    http
      .get(`http://${service}/`, { agent }, (answer) => {
        answer.resume();
        answer.on("end", () => end(response, 200, "ok\n"));
      })
      .on("error", (error) => end(response, 502, `${error.message}\n`));
  })
  .listen(Number(port), "127.0.0.1");
