# SPDX-License-Identifier: Apache-2.0
"""Reads the kernel's counters of processes, and controls the load generator."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent.parent
GENERATOR = HERE / ".build/release/posthorn-bench"
SERVER_CORE, GENERATOR_CORE = "0", "1"
TICKS = os.sysconf("SC_CLK_TCK")
PAYLOAD_BYTES = 250
# The number of cores that other programs may use during a quiet measurement.
QUIET_CORES = 0.25


def say(text):
    print(text, file=sys.stderr, flush=True)


class Failure(Exception):
    """A scenario lost or refused something, or could not start it, so it has no valid figure."""


def median(values):
    return statistics.median(values)


def cpu_seconds(pids):
    """Returns the CPU time of all threads of these processes; schedstat counts nanoseconds without a sampling error."""
    total = 0
    for pid in pids:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                total += int(file.read().split()[0])
    return total / 1e9


def busy_seconds():
    """Returns the CPU time of the whole machine."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS


def memory_kilobytes(pids):
    """Returns the resident memory of processes, with shared pages counted once (PSS) and in each (RSS)."""
    found = {"Rss": 0, "Pss": 0}
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            for line in file:
                name = line.split(":")[0]
                if name in found:
                    found[name] += int(line.split()[1])
    return found


def slab_kilobytes():
    with open("/proc/meminfo") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Slab:"))


class Generator:
    """The generator posthorn-bench on its own core. Each command is a line, and so is each answer."""

    def __init__(self, command, options):
        arguments = [str(GENERATOR), command]
        for name, value in options:
            arguments += [f"--{name}", str(value)]
        self.process = subprocess.Popen(
            ["taskset", "-c", GENERATOR_CORE, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, bufsize=1)
        self.command = " ".join(arguments)

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"{self.process.stderr.read().strip()[:600]}\n  {self.command[:300]}")
        return json.loads(line)

    def start(self, question):
        self.process.stdin.write(question + "\n")

    def ask(self, question):
        self.start(question)
        return self.read()

    def run_when_idle(self):
        """Lets another generator on the core run first, so that its latencies do not include waiting for this one."""
        os.sched_setscheduler(self.process.pid, os.SCHED_IDLE, os.sched_param(0))

    def close(self):
        self.process.stdin.close()
        if self.process.wait(timeout=60) != 0:
            raise Failure(self.process.stderr.read().strip()[:600])

    def __enter__(self):
        self.read()
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self.process.kill()
        self.process.stdin.close()
        self.process.wait()


def watched(server, generator, question, count):
    """Runs a command and adds its cost: the server's CPU for each of `count`, and the cores used by others."""
    server_before, busy_before, own = server.cpu(), busy_seconds(), cpu_seconds([generator.process.pid])
    start = time.monotonic()
    answer = generator.ask(question)
    seconds = time.monotonic() - start
    spent = server.cpu() - server_before
    mine = spent + cpu_seconds([generator.process.pid]) - own
    answer["cpu_us"] = spent / count * 1e6
    answer["generator_cpu_us"] = (mine - spent) / count * 1e6
    answer["rate"] = count / answer.get("seconds", seconds)
    answer["other_cores"] = max(0.0, (busy_seconds() - busy_before - mine) / seconds)
    return answer


def is_quiet(answer):
    return answer.get("other_cores", 0) <= QUIET_CORES


def quiet(ask, retries):
    """Repeats a measurement while others use more than a quarter of a core; returns the quietest if none is quiet."""
    answers = []
    for _ in range(retries + 1):
        answers.append(ask())
        if is_quiet(answers[-1]):
            break
    return min(answers, key=lambda answer: answer["other_cores"])


def alternate(contestants, repeats, retries):
    """Measures all contestants in turn, `repeats` times; returns {name: [answer, …]} in the order of the rounds."""
    answers = {name: [] for name, _ in contestants}
    for _ in range(repeats):
        for name, ask in contestants:
            answers[name].append(quiet(ask, retries))
    return answers


class Rounds:
    """The values of a row, one per round; those of quiet and of noisy rounds are separate."""

    def __init__(self, pairs):
        self.values = [value for value, is_good in pairs if is_good]
        self.noisy = [value for value, is_good in pairs if not is_good]


def ratios(answers, above, below, key):
    """Returns the ratio of each round, because both values of a round were measured under the same conditions."""
    return Rounds([(one[key] / other[key], is_quiet(one) and is_quiet(other))
                   for one, other in zip(answers[above], answers[below])])


def values(answers, key):
    """Returns a value of each round."""
    return Rounds([(answer[key], is_quiet(answer)) for answer in answers])


def figures(answers, names, *keys):
    """Returns the values of some servers: {name: {key: [value, …]}}. Noisy rounds count only if none is quiet."""
    found = {}
    for name in names:
        runs = [answer for answer in answers[name] if is_quiet(answer)] or answers[name]
        found[name] = {key: [answer[key] for answer in runs] for key in keys}
    return found
