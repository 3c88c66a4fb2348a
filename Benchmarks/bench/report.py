# SPDX-License-Identifier: Apache-2.0
"""Writes the results of a run to Benchmarks/Results, as JSON and as Markdown."""
import datetime
import json
import os
import pathlib
import platform
import subprocess

from .goals import is_met
from .measure import HERE, median
from .posthorn import PROGRAMS

RESULTS = HERE / "Results"
MARKS = {True: "yes", False: "**missed**", None: ""}


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
    return (output(*place, "rev-parse", "--short", "HEAD") or "unknown") + ("-changed" if changed else "")


def other_load(details):
    """Returns the median and the maximum of the cores that other programs used."""
    others = [answer["other_cores"] for detail in details for runs in detail["answers"].values()
              for answer in runs if "other_cores" in answer]
    return [round(median(others), 2), round(max(others), 2)] if others else None


def write(shop, measured, scenarios, failures, script="Benchmarks/run.sh"):
    """Writes the results as JSON and as text; `measured` is the commit at the start of the run."""
    now = datetime.datetime.now()
    facts = {
        "time": now.isoformat(timespec="minutes"), "commit": measured, "machine": machine(),
        "command": f"BENCH_REPEATS={shop.repeats} {'BENCH_FULL=1 ' if shop.full else ''}{script} "
                   + " ".join(scenarios),
        "scenarios": scenarios, "failures": failures, "other_load": other_load(shop.details), "rows": shop.rows,
        "commands": shop.commands, "details": shop.details}
    folder = pathlib.Path(os.environ.get("BENCH_RESULTS", RESULTS))
    folder.mkdir(exist_ok=True)
    name = f"{now:%Y-%m-%d-%H%M}-{measured}" + ("" if is_whole(facts) else "-" + "".join(scenarios))
    path = folder / f"{name}.json"
    path.write_text(lines(facts))
    text = page(facts)
    path.with_suffix(".md").write_text(text)
    return path, text


def lines(facts):
    """Returns JSON with one line for each row, command and detail."""
    members = []
    for name, value in facts.items():
        if name in ("rows", "details") and value:
            shown = "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in value) + "]"
        else:
            shown = json.dumps(value, ensure_ascii=False)
        members.append(f"{json.dumps(name)}: {shown}")
    return "{\n" + ",\n".join(members) + "}\n"


def is_whole(facts):
    """Returns whether a run measured all scenarios that the page shows, and none of them failed."""
    shown = set("ABCDEFGHI")
    return shown <= set(facts["scenarios"]) and not shown & set(facts["failures"])


# The text of a run

UNITS = {"rate": "{:,.0f}/s", "cpu_us": "{:.1f} us", "nodes_us": "nodes {:.1f} us",
         "primary_us": "primary {:.1f} us", "standbys_us": "standbys {:.1f} us", "written": "{:.2f} written",
         "number": "{:,.0f}", "ms": "{:.2f} ms", "seconds": "{:.3f} s", "rss_kb": "{:.1f} KB",
         "slab_kb": "kernel {:.1f} KB", "after_broadcast_kb": "after a broadcast {:.1f} KB", "mb": "{:.1f} MB",
         "connect_seconds": "connected after {:.1f} s"}


def head(facts):
    load = facts["other_load"]
    noise = f"{load[0]:.2f} cores in the median, {load[1]:.2f} at most" if load else "not known"
    return (f"- Commit {facts['commit']}, {facts['time'].replace('T', ' ')}\n- Machine: {facts['machine']}\n"
            f"- Command: `{facts['command']}`\n- CPU that other programs used while it measured: {noise}\n"
            + "".join(f"- {note}\n" for note in facts.get("notes", []))
            + "".join(f"- Scenario {scenario} failed: {reason.splitlines()[0]}\n"
                      for scenario, reason in facts["failures"].items()))


def table(rows):
    """Returns the table of rows; each value is the median of the quiet rounds, or of all if none was quiet."""
    text = ["| | Measured | Value | Goal | Met | Rounds | Figures |", "|---|---|---|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: row["scenario"]):
        value = median(row["values"] or row["noisy"])
        count, total = len(row["values"]), len(row["values"]) + len(row["noisy"])
        rounds = row.get("rounds") or (f"{count}" if count == total else f"{count} of {total} quiet")
        met, goal = is_met(row["goal"], value), " ".join(map(str, row["goal"] or ()))
        # More digits if rounding hides on which side of the goal the value is.
        digits = 2 if is_met(row["goal"], round(value, 2)) == met else 4
        text.append(f"| {row['scenario']} | {row['what']} | {value:,.{digits}f} | {goal} | {MARKS[met]} | {rounds} | "
                    f"{figures(row['figures'])} |")
    return "\n".join(text) + "\n"


def figures(found):
    return "; ".join(
        f"{name} " + ", ".join(UNITS[unit].format(median(values)) for unit, values in units.items())
        for name, units in found.items())


def commands(found):
    return "".join(f"{command}\n" for command in found)


def page(facts):
    """Returns a run as Markdown."""
    text = f"# Benchmark of commit {facts['commit']}\n\n{head(facts)}\n{table(facts['rows'])}"
    if facts["commands"]:
        text += f"\n## Commands\n\n```text\n{commands(facts['commands'])}```\n"
    for command, configuration in facts["commands"].items():
        if configuration:
            text += f"\nThe configuration of `{command}`:\n\n```text\n{configuration}\n```\n"
    return text
