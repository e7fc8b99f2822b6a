// A web server each request of which looks up a name, as those do that open a new connection to a service for each
// request and keep no names. It asks the name server that it is given.

const { Resolver } = require("node:dns");
const http = require("node:http");

const [port, nameServer] = process.argv.slice(2);
const resolver = new Resolver();
resolver.setServers([nameServer]);

http
  .createServer((_, response) => {
    // That there is no such name is an answer too.
    resolver.resolve4("service.lab", () => {
      response.setHeader("Content-Length", 3);
      response.end("ok\n");
    });
  })
  .listen(Number(port), "127.0.0.1");
