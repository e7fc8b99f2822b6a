// A web server of one event loop that turns a list of so many orders into text with each request, as a page does that
// asks for all of them and shows ten.

const http = require("node:http");

const [port, count] = process.argv.slice(2).map(Number);
const orders = Array.from({ length: count }, (_, id) => ({
  id,
  name: `order ${id}`,
  items: [id % 7, id % 11, id % 13],
}));

http
  .createServer((_, response) => {
    const text = Buffer.from(JSON.stringify({ orders }));
    response.setHeader("Content-Length", text.length);
    response.end(text);
  })
  .listen(port, "127.0.0.1");
