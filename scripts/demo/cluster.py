#!/usr/bin/env python3
"""Plays the story of demo-cluster on nodes that scripts/demo/cluster-node.sh makes: cluster.py FOLDER.

It starts and stops nodes, gives each its load, and shows each node's node_exporter what its control groups have used. When
the story is over it prints from when to when it was, as `explain --from --to` takes them. It judges nothing.
"""

import os
import signal
import subprocess
import sys
import threading
import time

FOLDER = sys.argv[1]
NODE_SH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cluster-node.sh")
SETTINGS = dict(
    line.split("=", 1)
    for line in subprocess.run(
        ["bash", "-c", f"set -a; . {FOLDER}/settings; env"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    if "=" in line
)
# What one CPU of a node is of one of this machine's.
NODE_CPU = int(SETTINGS["cpu_us"]) / int(SETTINGS["period_us"])
ALL = range(1, 7)
MIB = 1 << 20
# Memory of a node, by its CPUs: all rows of a shard of three do not fit into the smaller, those of a shard of six do.
MEMORY = {2: 88 * MIB, 4: 176 * MIB}
# Rows that are asked for, by how many nodes share them.
ROWS = {3: 700_000, 6: 350_000}
# Clients of each node: ten in all. Those of a node that leaves go on with the others.
CLIENTS = {3: [4, 3, 3], 4: [3, 3, 2, 2], 5: [2, 2, 2, 2, 2], 6: [2, 2, 2, 2, 1, 1]}
# CPUs of a node that one client asks for where it never waits.
DEMAND = 0.6
TICK_S = 0.1
# How long a configuration is under load, a restarted node is left to warm up, and so on, s.
CONFIGURATION_S, BEFORE_S, WARM_UP_S, SKEWED_S, AWAY_S = 42, 14, 18, 30, 13

SCRIPT = """\\set aid random(1, :rows - 40)
SELECT sum(abalance) FROM pgbench_accounts WHERE aid BETWEEN :aid AND :aid + 39;
\\set pause random(:mean / 2, :mean * 3 / 2)
\\sleep :pause us
"""


def tell(text):
    print(f"  {time.strftime('%H:%M:%S', time.gmtime())}  {text}", file=sys.stderr, flush=True)


def read(*path):
    with open(os.path.join(*path), encoding="ascii") as file:
        return file.read()


def replace(path, text):
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(text)
    os.rename(path + ".new", path)


class Node:
    """A node, its load, and what it shows."""

    def __init__(self, number):
        self.number = number
        self.here = f"{FOLDER}/node-{number}"
        self.group = f"{SETTINGS['name']}-{number}"
        self.address = f"10.213.77.{number}"
        self.cpus = 2
        self.is_up = False
        self.load = None
        self.wanted = None
        self.load_lock = threading.Lock()
        self.session = None
        # Ticks of 10 ms of each of its CPUs: used, idle.
        self.rows = [[0.0, 0.0] for _ in range(4)]
        self.last = None

    def act(self, what, *arguments):
        command = [NODE_SH, what, FOLDER, str(self.number), *map(str, arguments)]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def size(self, cpus):
        self.act("size", cpus, MEMORY[cpus])
        self.cpus = cpus

    def start(self):
        self.show()
        self.act("start")
        self.is_up = True

    def stop(self):
        self.ask(0, 0, 0)
        self.is_up = False
        self.end_session()
        self.act("stop")

    def restart(self):
        # Its clients come again as soon as it answers.
        self.act("restart")

    def warm(self, part):
        """Reads this part of the rows and of their index, as a node does that gets its shard from others."""
        enter = "".join(f"echo $$ >{it}/{self.group}/cgroup.procs; " for it in SETTINGS["hierarchies"].split())
        base = f"{self.here}/disk/data/base"
        files = [os.path.join(folder, name) for folder, _, names in os.walk(base) for name in names]
        sizes = {it: os.path.getsize(it) for it in files}
        reads = [
            f"dd if={it} of=/dev/null bs=1M count={int(size * part / MIB) + 1} status=none"
            for it, size in sizes.items()
            if size > MIB
        ]
        return subprocess.Popen(["sh", "-c", enter + "; ".join(reads)], stdin=subprocess.DEVNULL)

    def ask(self, clients, rows, pause_us):
        """Its load from now on."""
        wanted = (clients, rows, pause_us) if clients else None
        with self.load_lock:
            if wanted != self.wanted:
                self.wanted = wanted
                self.end_load()
        self.keep_load()

    def end_load(self):
        if self.load:
            self.load.kill()
            self.load.wait()
            self.load = None

    def keep_load(self):
        """A load whose server went away is begun anew."""
        with self.load_lock:
            self.begin_load()

    def begin_load(self):
        if self.load and self.load.poll() is not None:
            self.load = None
        if self.wanted and not self.load:
            clients, rows, pause_us = self.wanted
            command = ["setpriv", "--pdeathsig", "KILL", SETTINGS["bin"] + "/pgbench", "-n", "-M", "prepared"]
            command += ["-f", f"{FOLDER}/select.sql", "-D", f"rows={rows}", "-D", f"mean={pause_us}"]
            command += ["-c", str(clients), "-T", "3600", "-h", self.address, "-U", "postgres", "bench"]
            self.load = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )

    # What it shows.

    def show(self):
        now, used = time.monotonic(), self.used()
        if self.last:
            seconds = now - self.last[0]
            each = (used - self.last[1]) / 1e9 / NODE_CPU / self.cpus
            for row in self.rows[: self.cpus]:
                row[0] += 100 * each
                row[1] += 100 * (seconds - each)
        self.last = (now, used)
        lines = [f"cpu{at} {row[0]:.0f} 0 0 {max(row[1], 0):.0f} 0 0 0 0 0 0" for at, row in enumerate(self.rows)]
        sums = [sum(column) for column in zip(*self.rows)]
        total = f"cpu  {sums[0]:.0f} 0 0 {max(sums[1], 0):.0f} 0 0 0 0 0 0"
        host = [line for line in read("/proc/stat").splitlines() if line.split()[0] == "btime"]
        stat = "\n".join([total, *lines[: self.cpus], "intr 0", "ctxt 0", *host, "processes 1", "procs_running 1", "procs_blocked 0"])
        replace(f"{self.here}/run/proc/stat", stat + "\n")
        self.show_memory()

    def used(self):
        """CPU time of its group, ns: the scheduler's own account, which unlike user and system time is not sampled."""
        return int(read(SETTINGS["v1_usage"], self.group, "cpuacct.usage"))

    def show_memory(self):
        """As lxcfs shows a control group: https://github.com/lxc/lxcfs, proc_meminfo_read."""
        group = (SETTINGS["v1_memory"], self.group)
        stat = dict(line.split() for line in read(*group, "memory.stat").splitlines())
        stat = {key: int(value) for key, value in stat.items()}
        limit, usage = MEMORY[self.cpus], int(read(*group, "memory.usage_in_bytes"))
        free = max(limit - usage, 0)
        values = {
            "MemTotal": limit,
            "MemFree": free,
            "MemAvailable": free + stat["active_file"] + stat["inactive_file"],
            "Buffers": 0,
            "Cached": stat["cache"],
            "Active(file)": stat["active_file"],
            "Inactive(file)": stat["inactive_file"],
            "AnonPages": stat["rss"],
            "Shmem": stat.get("shmem", 0),
        }
        text = "".join(f"{key}: {value // 1024} kB\n" for key, value in values.items())
        replace(f"{self.here}/run/proc/meminfo", text)

    def show_database(self):
        text = f"node_quota_cpus {self.cpus}\n"
        for name, value in self.counters().items():
            text += f'# TYPE pg_stat_database_{name} counter\npg_stat_database_{name}{{datname="bench"}} {value}\n'
        replace(f"{self.here}/run/text/node.prom", text)

    NAMES = ["xact_commit", "blks_read", "blks_hit", "tup_fetched"]

    def counters(self):
        """What PostgreSQL has counted; nothing while it does not answer."""
        if self.session and self.session.poll() is not None:
            self.end_session()
        if not self.session:
            command = ["setpriv", "--pdeathsig", "KILL", "psql", "-qAtX", "-F", " ", "-h", self.address, "-U", "postgres", "bench"]
            self.session = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        try:
            asked = f"SELECT {', '.join(self.NAMES)} FROM pg_stat_database WHERE datname = 'bench';\n"
            self.session.stdin.write(asked)
            self.session.stdin.flush()
            answer = self.session.stdout.readline().split()
            return dict(zip(self.NAMES, answer)) if len(answer) == len(self.NAMES) else {}
        except OSError:
            return {}

    def end_session(self):
        if self.session:
            self.session.kill()
            self.session.wait()
            self.session = None


NODES = [Node(number) for number in ALL]


def show_all():
    """Keeps what the nodes show up to date, and their loads alive."""
    while True:
        for node in NODES:
            node.show()
            if node.is_up:
                node.keep_load()
        time.sleep(TICK_S)


def show_databases_of(node):
    while True:
        if node.is_up:
            node.show_database()
        time.sleep(1)


def in_background(function, *arguments):
    def run():
        try:
            function(*arguments)
        except Exception as error:  # Whatever it is: without this the demo shows nothing.
            tell(f"{function.__name__}: {error!r}")
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=run, daemon=True).start()


def cost_s():
    """CPU time of this machine that a request takes, s, with the load of six nodes, where nothing holds it back.

    All of them, for a request takes up to twice as much on a machine that is otherwise idle.
    """
    for node, clients in zip(NODES, CLIENTS[6]):
        node.ask(clients, ROWS[6], 5_000)
    time.sleep(2)
    # PostgreSQL says what it has counted once a second.
    began, before = time.monotonic(), [(node.used(), int(node.counters()["xact_commit"])) for node in NODES]
    time.sleep(6)
    after = [(node.used(), int(node.counters()["xact_commit"])) for node in NODES]
    own = float(SETTINGS["own_cpu"]) * len(NODES) * (time.monotonic() - began)
    for node in NODES:
        node.ask(0, 0, 0)
    used, done = (sum(it[at] for it in after) - sum(it[at] for it in before) for at in (0, 1))
    return max(used / 1e9 - own, 0.01) / max(done, 1)


def main():
    # So that a node that is being started or stopped is not left halfway.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with open(f"{FOLDER}/select.sql", "w", encoding="ascii") as file:
        file.write(SCRIPT)
    first = NODES[:3]

    def warm(nodes, part):
        for it in [node.warm(part) for node in nodes]:
            it.wait()

    for node in NODES:
        node.size(4)
        node.start()
    warm(NODES, 0.5)
    cost = cost_s()
    rate = DEMAND * NODE_CPU / cost
    pause = max(int((1 / rate - cost) * 1e6), 100)
    tell(f"A request takes {cost * 1e6:.0f} us of CPU; 10 clients ask again {pause / 1000:.1f} ms after an answer.")
    for node in NODES[3:]:
        node.stop()
    for node in NODES:
        node.size(2)
        node.show()
    in_background(show_all)
    for node in NODES:
        in_background(show_databases_of, node)

    def share(clients, rows):
        for node, its in zip(NODES, clients):
            node.ask(its, rows, pause)

    def cluster(number):
        share(CLIENTS[number] + [0] * (6 - number), ROWS[number])

    warm(first, 1)
    cluster(3)
    time.sleep(8)
    began = time.time()
    tell("3 nodes of 2 CPUs: their data does not fit into their memory")
    time.sleep(CONFIGURATION_S)
    tell("3 nodes join: 6 nodes of 2 CPUs, half of the data on each")
    for node in NODES[3:]:
        node.start()
    warm(NODES, 0.5)
    cluster(6)
    time.sleep(CONFIGURATION_S)
    tell("each grows: 6 nodes of 4 CPUs")
    for node in NODES:
        node.size(4)
    time.sleep(CONFIGURATION_S)
    tell("3 nodes go: 3 nodes of 4 CPUs")
    warm(first, 1)
    cluster(3)
    for node in NODES[3:]:
        node.stop()
    time.sleep(CONFIGURATION_S)
    tell("they come back: 6 nodes of 4 CPUs again")
    for node in NODES[3:]:
        node.start()
    warm(NODES[3:], 0.5)
    cluster(6)
    time.sleep(BEFORE_S)
    for node in first:
        tell(f"node-{node.number} is restarted, and its page cache is cold")
        node.restart()
        time.sleep(WARM_UP_S)
    tell("node-2 gets five of the ten clients")
    share([1, 5, 1, 1, 1, 1], ROWS[6])
    time.sleep(SKEWED_S)
    for node in NODES[5:2:-1]:
        tell(f"node-{node.number} leaves")
        left = node.number - 1
        share(CLIENTS[left] + [0] * (6 - left), ROWS[6])
        node.stop()
        time.sleep(AWAY_S)
    ended = time.time()
    for node in NODES:
        node.ask(0, 0, 0)
    tell("the end")
    print(*[time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(it)) for it in (began, ended)])


main()
