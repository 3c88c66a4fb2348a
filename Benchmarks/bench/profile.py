# SPDX-License-Identifier: Apache-2.0
"""Profiles posthornd under the load of a scenario: python3 -m bench.profile A|B|C."""
import re
import subprocess
import sys

from . import report
from .measure import HERE, Failure, Generator, say
from .posthorn import Posthorn
from .workshop import Workshop

SAMPLES_A_SECOND = 999
FUNCTION_COUNT = 10


def load_of(scenario, shop, server):
    """Options of the generator, how many devices connect first, and the question that it is asked over and over."""
    if scenario == "A":
        server.prepare()
        return [("protocol", "http2"), ("publishers", 16), ("expect", "400"),
                ("paths", shop.write("foreign", shop.foreign_paths)), *server.headers()], 0, "closed 400000 100"
    if scenario == "B":
        server.prepare(10_000)
        return [("protocol", "http2"), ("publishers", 4), ("identities", server.identities),
                *server.headers()], 0, "closed 200000 100"
    server.prepare(1000)
    return [("protocol", server.stream()), ("publishers", 16), ("identities", server.identities), ("topics", 1000),
            ("delivered", "yes"), *server.headers()], 1000, "closed 150000 25"


def record(scenario, shop, server):
    options, devices, question = load_of(scenario, shop, server)
    samples = shop.root / "samples"
    with Generator("load", [("port", server.port), *options]) as generator:
        if devices:
            generator.ask(f"connect {devices}")
        recorder = subprocess.Popen(
            ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(SAMPLES_A_SECOND), "-g", "-o", samples, "-p",
             str(server.process.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = server.cpu()
        answer = generator.ask(question)
        cost = (server.cpu() - before) / answer["count"] * 1e6
        recorder.terminate()
        recorder.wait()
    return samples, question, cost


def listing(samples, *options):
    """Lines of `perf report`, with Swift's names made readable."""
    text = subprocess.run(
        ["perf", "report", "-i", samples, "--stdio", "-g", "none", "--percent-limit", "0.1", *options],
        capture_output=True, text=True).stdout
    text = subprocess.run(["swift", "demangle", "--simplified"], input=text, capture_output=True, text=True).stdout
    lines = [re.sub(r"\s+", " ", line).strip().removesuffix("- -") for line in text.splitlines()]
    return [line[:150] for line in lines if line and not line.startswith("#") and "] 0x0" not in line
            and "] 0000" not in line]


def main(scenario):
    if scenario not in ("A", "B", "C"):
        say("say A, B or C")
        return 2
    shop = Workshop()
    try:
        with Posthorn(shop) as server:
            samples, question, cost = record(scenario, shop, server)
        text = (
            f"Scenario {scenario}, commit {report.commit()}, {report.machine()}\n"
            f"Benchmarks/profile.sh {scenario}: `{question}`, {cost:.1f} us of CPU each while it was sampled\n\n"
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
