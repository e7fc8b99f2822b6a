// The same in JavaScript: code that the runtime makes, with its names in a perf map (--perf-basic-prof).
function cpu() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
}

let sink = 1;

function rounds(count) {
    let sum = sink;
    for (let i = 0; i < count; i++) sum = (Math.imul(sum, 1103515245) + i) | 0;
    sink = sum;
}

function heavyJs(begun) {
    for (let i = 0; i < 6; i++) rounds(200000);
    return cpu() - begun;
}

function middleJs(begun) {
    for (let i = 0; i < 3; i++) rounds(200000);
    return cpu() - begun;
}

function lightJs(begun) {
    rounds(200000);
    return cpu() - begun;
}

const seconds = Number(process.argv[2]);
const spent = [0, 0, 0];
while (cpu() < seconds) {
    spent[0] += heavyJs(cpu());
    spent[1] += middleJs(cpu());
    spent[2] += lightJs(cpu());
}
console.log("js", ...spent);
