// The same in JavaScript.
const word = new Int32Array(new SharedArrayBuffer(4));
const now = () => Number(process.hrtime.bigint()) / 1e9;

function heavyJs(begun) {
    Atomics.wait(word, 0, 0, 6);
    return now() - begun;
}

function middleJs(begun) {
    Atomics.wait(word, 0, 0, 3);
    return now() - begun;
}

function lightJs(begun) {
    Atomics.wait(word, 0, 0, 1);
    return now() - begun;
}

const until = now() + Number(process.argv[2]);
const spent = [0, 0, 0];
while (now() < until) {
    spent[0] += heavyJs(now());
    spent[1] += middleJs(now());
    spent[2] += lightJs(now());
}
console.log("js", ...spent);
