#!/usr/bin/env python3
"""held-back.py STALLSCOPE SWEEP.json...

How often `stallscope size` is right on configurations that it was not given: each point of each sweep is held back
once and predicted from the others by `stallscope size --at`. Prints a line for each and how many lay within their
interval. Sweeps are those of `sweep --json`, as demo-scaling and demo-sizing leave them.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def predicted(program, sweep, held, folder):
    """The configuration of `held` as `size` predicts it from the other points, or why it does not."""
    given = dict(sweep, points=[it for it in sweep["points"] if it is not held])
    file = pathlib.Path(folder, "given.json")
    file.write_text(json.dumps(given))
    names, values = [], []
    for it, value in zip(sweep["parameters"], held["values"]):
        # Parameters that were set together are asked for one by one.
        is_several = "+" in it["name"]
        names += it["name"].split("+") if is_several else [it["name"]]
        values += value.split("/") if is_several else [value]
    asked = [f"--at={name}={value}" for name, value in zip(names, values) if is_number(value)]
    ended = subprocess.run([program, "size", file, *asked, "--json", "-"], capture_output=True, text=True)
    if ended.returncode != 0:
        return None, ended.stderr.strip()
    for it in json.loads(ended.stdout)["configurations"]:
        if it["values"] == values:
            return it, it.get("refused")
    return None, "it was not asked for"


def main():
    program, *files = sys.argv[1:]
    right, widths, refused = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            sweep = json.loads(pathlib.Path(file).read_text())
            for held in sweep["points"]:
                figures = {it["key"]: it["value"] for it in held["figures"]}
                name, measured = f"{file} {' '.join(held['values'])}", figures.get("throughput")
                it, why = predicted(program, sweep, held, folder)
                if why or measured is None or not it["throughput"] or not it["throughput"]["interval"]:
                    refused += 1
                    print(f"{name}: measured {measured and round(measured)}, refused: {why}")
                    continue
                value, ends = it["throughput"]["value"], it["throughput"]["interval"]
                right.append(ends["low"] <= measured <= ends["high"])
                widths.append((ends["high"] - ends["low"]) / 2 / value)
                print(
                    f"{name}: measured {measured:.0f}, predicted {value:.0f}"
                    f" ({ends['low']:.0f} to {ends['high']:.0f}){'' if right[-1] else ', outside'}"
                )
    if not right:
        sys.exit(f"held-back: none of {refused} was predicted")
    print(
        f"{sum(right)} of {len(right)} lie within ({100 * sum(right) / len(right):.0f} %),"
        f" half-width {100 * statistics.median(widths):.0f} % (median), {refused} refused"
    )


main()
