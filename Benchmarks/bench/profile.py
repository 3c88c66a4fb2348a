# SPDX-License-Identifier: Apache-2.0
"""Profiles posthornd under the load of a scenario: python3 -m bench.profile A|B|C|C16|D|E|F|G|H|I."""
import dataclasses
import re
import subprocess
import sys

from . import devices, report
from .measure import HERE, Failure, Generator, say
from .posthorn import Posthorn
from .workshop import Workshop

SAMPLES_A_SECOND = 999
FUNCTION_COUNT = 10


@dataclasses.dataclass
class Load:
    """The commands of a scenario for the generator."""

    options: list
    # Commands that run first and are not sampled.
    before: list
    # Commands that are sampled; together they process `count` items.
    questions: list
    count: int
    command: str = "load"


def away(server):
    return [("protocol", "http2"), ("publishers", 4), ("identities", server.identities), *server.headers()]


def connected(server):
    return [("protocol", server.stream()), ("publishers", 16), ("identities", server.identities),
            ("delivered", "yes"), *server.headers()]


def refused(shop, server):
    server.prepare()
    return Load([("protocol", "http2"), ("publishers", 16), ("expect", "400"),
                 ("paths", shop.write("foreign", shop.foreign_paths)), *server.headers()],
                [], ["closed 400000 100"], 400_000)


def durable(shop, server):
    return Load(away(server.prepare(10_000)), [], ["closed 200000 100"], 200_000)


def delivered(shop, server):
    options = [*connected(server.prepare(1000)), ("topics", 1000)]
    return Load(options, ["connect 1000"], ["closed 150000 25"], 150_000)


def delivered_singly(shop, server):
    """Returns the load of scenario C with one outstanding notification on each of the 16 connections."""
    return dataclasses.replace(delivered(shop, server), questions=["closed 30000 1"], count=30_000)


def paced(shop, server):
    options = [*connected(server.prepare(1000)), ("topics", 1000)]
    return Load(options, ["connect 1000"], ["open 1000 15000"], 15_000)


def idle(shop, server):
    """Returns the load of idle devices, each of which receives a heartbeat a minute."""
    server.prepare(10_000)
    return Load(connected(server), ["connect 10000"], ["serve 120"], 20_000)


def shaking(shop, server):
    server.prepare(1000)
    return Load([("protocol", server.stream()), ("identities", server.identities), ("count", 10_000)], [], ["go"],
                10_000, "storm")


def broadcasting(shop, server):
    server.prepare(10_000, broadcasts=True)
    options = [("protocol", server.stream()), ("publishers", 1), ("identities", server.identities),
               *server.headers(), *devices.broadcast_options(server)]
    return Load(options, ["connect 10000", "broadcast"], ["broadcast"] * 20, 200_000)


def returning(shop, server):
    server.prepare(3000)
    options = [("protocol", server.stream()), ("publishers", 4), ("identities", server.identities),
               *server.headers()]
    return Load(options, ["closed 9000 100"], ["drain 3000 3 1000"], 3000)


def grown(shop, server):
    return Load(away(server.prepare(50_000)), ["closed 500000 250"], ["closed 200000 100"], 200_000)


LOADS = {"A": refused, "B": durable, "C": delivered, "C16": delivered_singly, "D": paced, "E": idle, "F": shaking,
         "G": broadcasting, "H": returning, "I": grown}


def record(load, shop, server):
    samples = shop.root / "samples"
    with Generator(load.command, [("port", server.port), *load.options]) as generator:
        for question in load.before:
            generator.ask(question)
        recorder = subprocess.Popen(
            ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(SAMPLES_A_SECOND), "-g", "-o", samples, "-p",
             str(server.process.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = server.cpu()
        for question in load.questions:
            generator.ask(question)
        cost = (server.cpu() - before) / load.count * 1e6
        recorder.terminate()
        recorder.wait()
    return samples, cost


def listing(samples, *options):
    """Returns lines of `perf report` with demangled Swift names."""
    text = subprocess.run(
        ["perf", "report", "-i", samples, "--stdio", "-g", "none", "--percent-limit", "0.1", *options],
        capture_output=True, text=True).stdout
    text = subprocess.run(["swift", "demangle", "--simplified"], input=text, capture_output=True, text=True).stdout
    lines = [re.sub(r"\s+", " ", line).strip().removesuffix("- -") for line in text.splitlines()]
    return [line[:150] for line in lines if line and not line.startswith("#") and "] 0x0" not in line
            and "] 0000" not in line]


def main(scenario):
    if scenario not in LOADS:
        say(f"choose one of {', '.join(LOADS)}")
        return 2
    shop = Workshop()
    try:
        with Posthorn(shop) as server:
            load = LOADS[scenario](shop, server)
            samples, cost = record(load, shop, server)
        text = (
            f"Scenario {scenario}, commit {report.commit()}, {report.machine()}\n"
            f"Benchmarks/profile.sh {scenario}: {len(load.questions)} x `{load.questions[0]}`, {cost:.1f} us of CPU each of "
            f"{load.count:,} while it was sampled\n\n"
            f"The {FUNCTION_COUNT} most expensive functions, themselves alone:\n"
            + "\n".join(listing(samples, "--no-children", "--sort", "dso,symbol")[:FUNCTION_COUNT])
            + "\n\nBy library:\n" + "\n".join(listing(samples, "--no-children", "--sort", "dso")[:FUNCTION_COUNT])
            + "\n\nWith what they call:\n"
            + "\n".join(listing(samples, "--children", "--sort", "symbol")[:3 * FUNCTION_COUNT]) + "\n")
    except Failure as failure:
        say(str(failure))
        return 1
    finally:
        shop.close()
    path = HERE / "Profiles" / f"{scenario}.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
