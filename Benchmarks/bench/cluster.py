# SPDX-License-Identifier: Apache-2.0
"""Measures three nodes on PostgreSQL, and compares them with one server.

    python3 -m bench.cluster [C8] [C9] [C10] [C6] [C2]
"""
import contextlib
import os
import subprocess
import sys
import time

from . import report
from .cluster_faults import scenario_c2, scenario_c6
from .cluster_servers import Pair
from .measure import Failure, Generator, Rounds, alternate, is_quiet, say, watched
from .workshop import Workshop

# After this time, everything of a load is written and deleted; the idle CPU of this time counts too.
SETTLE_SECONDS = 1.5
NODE_COUNT = 3
AWAY = 500
# The devices of each server, and its provider connections with OUTSTANDING requests each.
DEVICES, CONNECTIONS, OUTSTANDING = 600, 15, 25
# The notifications of each away device in a round.
EACH = 100


class Settling:
    """A generator whose commands also wait until the servers have settled."""

    def __init__(self, generator):
        self.generator, self.process = generator, generator.process

    def ask(self, question):
        answer = self.generator.ask(question)
        time.sleep(SETTLE_SECONDS)
        return answer


def costing(server, generator, question, count):
    """Returns a function that measures a load with all that it leaves to do, and adds the CPU of PostgreSQL's parts."""
    def ask():
        rows, before = server.rows(), server.parts()
        answer = watched(server, Settling(generator), question, count)
        for name, seconds in server.parts().items():
            answer[f"{name}_us"] = (seconds - before[name]) / count * 1e6
        if before:
            answer["written"] = (server.rows() - rows) / count
        return answer
    return ask


def sending(stack, server, identities, *options, connections=None):
    """Returns a generator whose provider connections are spread over the nodes, and its devices too.

    Each node gets as many provider connections as one server: three nodes are for three times the load.
    """
    connections = connections or CONNECTIONS * server.node_count
    return stack.enter_context(Generator("load", [
        ("protocol", server.stream), ("port", server.ports), ("publishers", connections),
        ("identities", identities), ("again", "yes"), *server.headers(), *options]))


def scenario_c8(pair, shop):
    """Measures the CPU for each notification over all processes, of one server with SQLite and of three nodes."""
    count = 60_000
    with contextlib.ExitStack() as stack:
        for what, tenths, goal in (("all connected", 10, "C8 connected"), ("9 of 10 connected", 9, "C8 9 of 10")):
            contestants = []
            for server in pair:
                devices = DEVICES * server.node_count
                options = [("delivered", "yes")] if tenths == 10 else []
                generator = sending(stack, server, server.devices(devices), *options)
                generator.ask(f"connect {devices * tenths // 10}")
                contestants.append((server.label, costing(server, generator, f"closed {count} {OUTSTANDING}", count)))
            cost_rows(shop, what, alternate(contestants, shop.repeats, shop.retries), goal)
    with contextlib.ExitStack() as stack:
        contestants, devices = [], {server: server.devices(AWAY) for server in pair}
        for server in pair:
            generator = sending(stack, server, devices[server])
            contestants.append((server.label, staying_away(server, generator, devices[server])))
        answers = alternate(contestants, shop.repeats, shop.retries)
    cost_rows(shop, "all away, until they have it", answers, "C8 away")
    sent = {name: [run["sent"] for run in runs] for name, runs in answers.items()}
    cost_rows(shop, "all away, until it is accepted", sent)
    primary = [(1e6 / run["primary_us"], is_quiet(run)) for run in sent["cluster"]]
    shop.row("C8", "all away, accepted a second for each core of the primary", Rounds(primary), "C8 primary")
    for server in pair:
        server.expect_nothing_dropped()


def staying_away(server, generator, identities):
    """Returns a function that sends to devices that are away, and then connects them until they have everything."""
    count = AWAY * EACH

    def ask():
        sent = costing(server, generator, f"closed {count} {OUTSTANDING}", count)()
        with contextlib.ExitStack() as stack:
            returning = sending(stack, server, identities, connections=1)
            answer = costing(server, returning, f"drain {AWAY} {EACH} 64", count)()
        for key in ("cpu_us", "nodes_us", "primary_us", "standbys_us", "written"):
            if key in sent:
                answer[key] += sent[key]
        answer["rate"], answer["sent"] = sent["rate"], sent
        answer["other_cores"] = max(answer["other_cores"], sent["other_cores"])
        return answer
    return ask


def cost_rows(shop, what, answers, goal=None):
    shop.keep("C8", what, answers)
    found = [(NODE_COUNT * one["cpu_us"] / three["cpu_us"], is_quiet(one) and is_quiet(three))
             for one, three in zip(answers["one server"], answers["cluster"])]
    figures = {"one server": {key: [run[key] for run in answers["one server"]] for key in ("cpu_us", "rate")},
               "cluster": {key: [run[key] for run in answers["cluster"]]
                           for key in ("cpu_us", "nodes_us", "primary_us", "standbys_us", "written", "rate")}}
    shop.row("C8", f"throughput of three nodes / one by CPU, {what}", Rounds(found), goal, figures)


def scenario_c9(pair, shop):
    """Measures what a cluster adds to the time until a notification is accepted, at 200 a second, one after the other."""
    rate, seconds, devices = 200, 5, 300
    question = f"singly {rate} {rate * seconds}"
    one, cluster = pair
    with contextlib.ExitStack() as stack:
        def single(server, port, device_port, connected):
            generator = stack.enter_context(Generator("load", [
                ("protocol", server.stream), ("port", port), ("device-port", device_port), ("publishers", 1),
                ("identities", server.devices(devices)), ("delivered", "yes" if connected else "no"),
                ("again", "yes"), *server.headers()]))
            if connected:
                generator.ask(f"connect {devices}")

            def ask():
                answer = watched(server, generator, question, rate * seconds)
                del answer["accepted_ns"]
                return answer
            return ask

        first, second = (node.port for node in cluster.nodes[:2])
        answers = alternate([
            ("one server, connected", single(one, one.ports, one.ports, True)),
            ("same node, connected", single(cluster, first, first, True)),
            ("other node, connected", single(cluster, first, second, True)),
            ("one server, away", single(one, one.ports, one.ports, False)),
            ("cluster, away", single(cluster, first, first, False))], shop.repeats, shop.retries)
    shop.keep("C9", question, answers)
    for ours, base in (("other node, connected", "one server, connected"),
                       ("same node, connected", "one server, connected"), ("cluster, away", "one server, away")):
        for share in ("p50", "p99"):
            latency_row(shop, answers, ours, base, share)


def latency_row(shop, answers, ours, base, share):
    def milliseconds(answer):
        return answer["accept"][f"{share}_us"] / 1000
    added = [(milliseconds(more) - milliseconds(less), is_quiet(more) and is_quiet(less))
             for more, less in zip(answers[ours], answers[base])]
    figures = {name: {"ms": [milliseconds(run) for run in answers[name]]} for name in (ours, base)}
    goal = f"C9 {ours} {share}"
    shop.row("C9", f"ms added to the answer's {share}, {ours}", Rounds(added),
             None if ours.startswith("same") else goal, figures)


def scenario_c10(pair, shop):
    """Measures the CPU of an idle cluster, and of an idle server with SQLite and as many devices as a node."""
    seconds, devices = 60, 100
    one, cluster = pair

    def each():
        return one.each() | cluster.each()

    with contextlib.ExitStack() as stack:
        for server in pair:
            generator = sending(stack, server, server.devices(devices * server.node_count), connections=1)
            generator.ask(f"connect {devices * server.node_count}")
        time.sleep(5)
        before, start = each(), time.monotonic()
        time.sleep(seconds)
        passed = time.monotonic() - start
        spent = {name: (value - before[name]) / passed * 100 for name, value in each().items()}
    shop.keep("C10", f"{seconds} s, {devices} devices a node", {name: [{"percent": part}] for name, part in spent.items()})
    for name, percent in spent.items():
        goal = "C10 node" if name in cluster.node_names else None
        shop.row("C10", f"% of a core, idle, {name}", percent, goal)


SCENARIOS = {"C8": scenario_c8, "C9": scenario_c9, "C10": scenario_c10, "C6": scenario_c6, "C2": scenario_c2}


def main(names):
    os.environ.setdefault("BENCH_REPEATS", "3")
    names = names or list(SCENARIOS)
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown:
        say(f"no scenario {unknown[0]}: say some of {' '.join(SCENARIOS)}")
        return 2
    shop, failures, measured = Workshop(), {}, report.commit()
    try:
        with Pair(shop) as pair:
            for name in names:
                say(f"{name}. {SCENARIOS[name].__doc__}")
                try:
                    SCENARIOS[name](pair, shop)
                except (Failure, OSError, KeyError, subprocess.SubprocessError) as failure:
                    failures[name] = f"{type(failure).__name__}: {failure}"
                    say(f"  {name} FAILED: {failure}")
    finally:
        shop.close()
    path, text = report.write(shop, measured, names, failures, "Benchmarks/cluster.sh")
    print(text)
    say(f"written to {path}")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except Failure as failure:
        say(f"cluster: FAILED: {failure}")
        sys.exit(1)
