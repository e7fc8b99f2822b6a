// A web server for many tenants, whose requests look up what a tenant may have in a file of settings. It reads that file and
// parses it with each request ("each"), as code does that was written when the file was small, or when it starts ("once").
//
// settings.js PORT FILE each|once

const fs = require("node:fs");
const http = require("node:http");

const [port, file, word] = process.argv.slice(2);
const TENANTS = 3000;

const settings = {};
for (let tenant = 0; tenant < TENANTS; tenant++) {
  settings[`tenant-${tenant}`] = { export: tenant % 2 === 0, search: tenant % 3 === 0, limit: tenant, plan: "standard" };
}
fs.writeFileSync(file, JSON.stringify(settings));

const read = () => JSON.parse(fs.readFileSync(file, "utf8"));
const kept = read();
let asked = 0;

http
  .createServer((_, response) => {
    const all = word === "each" ? read() : kept;
    asked = (asked + 1) % TENANTS;
    const text = `${all[`tenant-${asked}`].limit}\n`;
    response.setHeader("Content-Length", text.length);
    response.end(text);
  })
  .listen(Number(port), "127.0.0.1");
