// A web server each request of which asks a database, over one of so many connections that it keeps open; a request waits in a
// list until one is free, as in the pools of most drivers.
//
// pool.js PORT DATABASE CONNECTIONS

const http = require("node:http");
const net = require("node:net");

const [port, database, connections] = process.argv.slice(2);
const [host, databasePort] = database.split(":");
const QUESTION = "GET / HTTP/1.1\r\nHost: database\r\n\r\n";

const free = [];
const waiting = [];

function connect() {
  const connection = net.connect(Number(databasePort), host);
  connection.setNoDelay(true);
  let read = "";
  connection.on("data", (data) => {
    read += data;
    if (read.endsWith("ok\n")) {
      read = "";
      const { answered } = connection;
      release(connection);
      answered();
    }
  });
  release(connection);
}

function use(connection, answered) {
  connection.answered = answered;
  connection.write(QUESTION);
}

function release(connection) {
  const next = waiting.shift();
  if (next) {
    use(connection, next);
  } else {
    free.push(connection);
  }
}

function query(answered) {
  const connection = free.shift();
  if (connection) {
    use(connection, answered);
  } else {
    waiting.push(answered);
  }
}

for (let number = 0; number < Number(connections); number++) {
  connect();
}

http
  .createServer((_, response) => {
    query(() => {
      response.setHeader("Content-Length", 3);
      response.end("ok\n");
    });
  })
  .listen(Number(port), "127.0.0.1");
