// A shop that takes an order: it asks the service that takes the money, and then writes the three lines of the order to a
// file of which no other request has need at that time, one after the other, and waits until the disk has each ("sync"), or
// leaves that to the kernel ("later").

const fs = require('fs');
const http = require('http');
const path = require('path');

const [port, service, folder, word] = process.argv.slice(2);
const [host, servicePort] = service.split(':');
const agent = new http.Agent({ keepAlive: true });
const line = Buffer.alloc(512, 'x');
const free = [];
const NOTES = 3;

for (let number = 0; number < 8; number++) {
    free.push(fs.openSync(path.join(folder, `orders-${number}`), 'a'));
}

function pay(done) {
    http.get({ host, port: servicePort, agent }, (answer) => {
        answer.resume();
        answer.on('end', done);
    });
}

function note(file, notes, done) {
    const next = () => (notes > 1 ? note(file, notes - 1, done) : done());
    fs.write(file, line, () => (word === 'sync' ? fs.fsync(file, next) : next()));
}

http.createServer((request, response) => {
    pay(() => {
        const file = free.pop();
        note(file, NOTES, () => {
            free.push(file);
            response.end('ok\n');
        });
    });
}).listen(port, '127.0.0.1');
