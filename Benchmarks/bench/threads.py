# SPDX-License-Identifier: Apache-2.0
"""Measures the CPU of each thread of posthornd under the load of a scenario: python3 -m bench.threads A|B|C ..."""
import os
import sys

from .measure import Failure, Generator, median, say
from .posthorn import Posthorn
from .profile import LOADS
from .workshop import Workshop

LOOP_COUNTS = (1, 2)


def cpu_by_thread(pid):
    """Returns the CPU time of each thread in seconds, by the thread's name."""
    found = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/comm") as comm, open(f"/proc/{pid}/task/{thread}/schedstat") as counters:
            found[comm.read().strip()] = int(counters.read().split()[0]) / 1e9
    return found


def measure(load, server, repeats):
    """Returns the microseconds of each thread for one item of the load: {name: [value of each round]}."""
    found = {}
    with Generator(load.command, [("port", server.port), *load.options]) as generator:
        for question in load.before:
            generator.ask(question)
        for _ in range(repeats):
            before = cpu_by_thread(server.process.pid)
            for question in load.questions:
                generator.ask(question)
            for name, seconds in cpu_by_thread(server.process.pid).items():
                found.setdefault(name, []).append((seconds - before.get(name, 0)) / load.count * 1e6)
    return found


def main(scenarios):
    if not scenarios or any(scenario not in LOADS for scenario in scenarios):
        say(f"choose some of {', '.join(LOADS)}")
        return 2
    shop = Workshop()
    try:
        for scenario in scenarios:
            for loop_count in LOOP_COUNTS:
                with Posthorn(shop, loop_count=loop_count) as server:
                    found = measure(LOADS[scenario](shop, server), server, shop.repeats)
                threads = [(name, median(values)) for name, values in sorted(found.items())]
                print(f"{scenario}, {loop_count} loops: "
                      + ", ".join(f"{name} {value:.1f} us" for name, value in threads if value >= 0.05), flush=True)
    except Failure as failure:
        say(str(failure))
        return 1
    finally:
        shop.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
