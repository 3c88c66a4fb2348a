# SPDX-License-Identifier: Apache-2.0
"""Writes the table to the screen and to Benchmarks/Results."""
import datetime
import json
import os
import pathlib
import platform
import subprocess

from .measure import HERE
from .posthorn import PROGRAMS

MARKS = {True: "yes", False: "**no**", None: ""}


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parent)
    return done.stdout.strip()


def machine():
    model = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    memory = int(pathlib.Path("/proc/meminfo").read_text().split()[1]) // 1024
    system = next(line.split("=")[1].strip('"') for line in pathlib.Path("/etc/os-release").read_text().splitlines()
                  if line.startswith("PRETTY_NAME"))
    return f"{os.cpu_count()} x {model}, {memory} MB, {system}, Linux {platform.release()}"


def commit():
    """Returns the commit whose programs are measured."""
    place = ["git", "-C", str(PROGRAMS)]
    top = output(*place, "rev-parse", "--show-toplevel")
    changed = output("git", "-C", top, "status", "--porcelain", "--untracked-files=no", "Sources", "Package.swift")
    return output(*place, "rev-parse", "--short", "HEAD") + ("-changed" if changed else "")


def table(rows):
    lines = ["| | Measured | Ratio | Goal | Met | Figures (medians) |", "|---|---|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: row["scenario"]):
        lines.append(f"| {row['scenario']} | {row['what']} | {row['measured']:.2f} | {row['goal']} | "
                     f"{MARKS[row['met']]} | {row['figures']} |")
    return "\n".join(lines)


def write(shop, measured, scenarios, failures):
    """Writes both files; `measured` is the commit at the start of the run."""
    facts = {
        "date": datetime.date.today().isoformat(), "commit": measured, "machine": machine(),
        "command": f"Benchmarks/run.sh {' '.join(scenarios)}", "repeats": shop.repeats, "full": shop.full,
        "failures": failures}
    folder = pathlib.Path(os.environ.get("BENCH_RESULTS", HERE / "Results"))
    folder.mkdir(exist_ok=True)
    name = f"{facts['date']}-{facts['commit']}"
    if len(scenarios) < 10:
        name += "-" + "".join(scenarios)
    (folder / f"{name}.json").write_text(
        json.dumps(facts | {"rows": shop.rows, "details": shop.details}, indent=1, ensure_ascii=False) + "\n")
    others = [answer["other_cores"] for detail in shop.details for runs in detail["answers"].values()
              for answer in runs if "other_cores" in answer]
    noise = f"{sorted(others)[len(others) // 2]:.2f} cores in the median, {max(others):.2f} at most" if others else "not known"
    text = (
        f"# Benchmark of {facts['date']}, commit {facts['commit']}\n\n"
        f"- Machine: {facts['machine']}\n- Command: `BENCH_REPEATS={facts['repeats']} "
        f"{'BENCH_FULL=1 ' if shop.full else ''}{facts['command']}`\n"
        f"- Other load while measuring: {noise}\n\n{table(shop.rows)}\n")
    for scenario, reason in failures.items():
        text += f"\nScenario {scenario} failed: {reason.splitlines()[0]}\n"
    (folder / f"{name}.md").write_text(text)
    return folder / f"{name}.md", text
