// A web server of one event loop that shows a post, of which it takes away the white space at either end first: by a
// pattern, which looks at each space in the middle of the post again and again, or by what the language has for that.
//
// trimming.js PORT SPACES pattern|trim

const http = require("node:http");

const [port, spaces, how] = process.argv.slice(2);
const post = `-- play happy sound for player${" ".repeat(Number(spaces))}to enjoy`;

const trimmed =
  how === "pattern"
    ? (text) => text.replace(/^[\s\u200c]+|[\s\u200c]+$/g, "")
    : (text) => text.trim();

http
  .createServer((_, response) => {
    const text = `${trimmed(post).length}\n`;
    response.setHeader("Content-Length", text.length);
    response.end(text);
  })
  .listen(Number(port), "127.0.0.1");
