# SPDX-License-Identifier: Apache-2.0
"""Takes the primary from a cluster under Patroni, and checks that nothing is lost: python3 -m bench.patroni_faults."""
import contextlib
import os
import pathlib
import shutil
import sys
import tempfile
import time

from . import report
from .cluster_faults import pending
from .cluster_servers import Cluster
from .goals import is_met
from .measure import Failure, Generator, median, say
from .patroni import Patroni
from .posthorn import TOPIC
from .postgres import wait_until
from .workshop import Workshop

ROWS = 1_000_000
# Nine of ten devices are away until the end.
CONNECTED, AWAY = 150, 1350
# The number of devices that return at a time.
RETURNING = 150
# The outstanding requests of each of the generator's 8 connections.
OUTSTANDING = 40
CALM_SECONDS = 10
START_SECONDS, PROGRESS_SECONDS = 60, 120


class Outage:
    """A load on a cluster that loses its primary several times."""

    def __init__(self, cluster, generator, rows):
        self.cluster, self.ask, self.rows = cluster, generator.ask, rows
        self.periods = {}

    def counts(self):
        for node in self.cluster.nodes:
            if node.process.poll() is not None:
                raise Failure(f"{node.node_name} ended with {node.process.returncode}")
        return self.ask("counts")

    def advance(self, share):
        """Waits until this share of the rows is accepted."""
        found = [-1, time.monotonic()]
        while (rows := self.counts()["accepted_away"]) < share * self.rows:
            if rows > found[0]:
                found = [rows, time.monotonic()]
            elif time.monotonic() - found[1] > PROGRESS_SECONDS:
                raise Failure(f"no notification was accepted for {PROGRESS_SECONDS} s")
            time.sleep(0.5)

    def run(self):
        patroni = self.cluster.trio
        self.ask(f"token {self.cluster.first.token}")
        wait_until(lambda: self.counts()["devices"] == CONNECTED, "devices do not connect", START_SECONDS)
        self.ask("start")
        faults = [("switchover", patroni.switch), ("process", lambda: patroni.primary.kill_process()),
                  ("machine", self.lose_machine)]
        for number, (name, action) in enumerate(faults, 1):
            self.advance(number / (len(faults) + 1))
            self.suffer(name, action)
        self.advance(1)
        self.ask("stop")

    def suffer(self, name, action):
        """Measures a fault, from its beginning until all servers are back and the load has continued for a while."""
        patroni = self.cluster.trio
        patroni.wait_until_healthy()
        former = patroni.primary
        self.ask("period")
        before, start = self.counts(), time.monotonic()
        action()
        wait_until(lambda: patroni.primary is not former and patroni.is_healthy(),
                   f"{name}: not all servers are back", PROGRESS_SECONDS)
        healthy = time.monotonic() - start
        time.sleep(CALM_SECONDS)
        found = self.ask("period")
        for count in ("accepted", "rejected", "unanswered"):
            found[count] -= before[count]
        self.periods[name] = found | {"healthy": healthy}
        say(f"  C2. {name}: {found['longest_pause_us'] / 1e6:.1f} s without 200, {found['rejected']} x 503, healthy "
            f"again after {healthy:.1f} s")

    def lose_machine(self):
        patroni = self.cluster.trio
        former = patroni.primary
        former.kill_machine()
        wait_until(lambda: patroni.primary is not former, "no standby was promoted", PROGRESS_SECONDS)
        former.restart()

    def settle(self):
        """Lets all devices return and receive everything; returns the last counts and the rows that waited before."""
        wait_until(lambda: self.counts()["outstanding"] == 0, "requests stay unanswered", PROGRESS_SECONDS)
        waiting = pending(self.cluster)
        for _ in range(0, AWAY, RETURNING):
            self.ask(f"return {RETURNING}")
            self.receive(lambda counts: counts["missing"] == 0)
        counts = self.receive(lambda counts: counts["lost"] == 0 and pending(self.cluster) == 0)
        say(f"  C2. {counts['delivered']:,} notifications arrived")
        return counts, waiting

    def receive(self, is_done):
        """Waits until devices have received what they should, or receive nothing more; returns the last counts."""
        found = [-1, time.monotonic()]
        while not is_done(counts := self.counts()):
            progress = counts["delivered"] + counts["delivered_again"]
            if progress > found[0]:
                found = [progress, time.monotonic()]
            elif time.monotonic() - found[1] > PROGRESS_SECONDS:
                break
            time.sleep(1)
        return counts


def fault_rows(shop, name, found):
    longest = max(found["accept"]["max_us"], found["refusal"]["max_us"]) / 1e6
    shop.row("C2", f"seconds without 200, {name}", found["longest_pause_us"] / 1e6, f"C2 {name}", {
        "503": {"number": [found["rejected"]]}, "unanswered": {"number": [found["unanswered"]]},
        "longest answer": {"seconds": [longest]}, "all servers are back": {"seconds": [found["healthy"]]}})
    if found["shortest_refusal_us"] is not None:
        shop.row("C2", f"seconds until the first 503, {name}", found["shortest_refusal_us"] / 1e6, "C2 503")


def perform(shop, rows):
    with contextlib.ExitStack() as stack:
        cluster = Cluster(stack, shop, Patroni(shop))
        options = [("port", cluster.ports), ("topic", TOPIC), ("identities", cluster.devices(CONNECTED + AWAY)),
                   ("outstanding", OUTSTANDING), ("count", 2 * rows), ("away", AWAY)]
        with Generator("outage", options) as generator:
            outage, start = Outage(cluster, generator, rows), time.monotonic()
            outage.run()
            seconds = time.monotonic() - start
            counts, waiting = outage.settle()
    shop.keep("C2", f"{rows} rows", {"cluster": [counts | {"waiting": waiting, "seconds": seconds}], **{
        name: [found] for name, found in outage.periods.items()}})
    for name, found in outage.periods.items():
        fault_rows(shop, name, found)
    shop.row("C2", "accepted and lost", max(counts["lost"], counts["accepted_away"] - waiting), "C2 lost", {
        "accepted": {"number": [counts["accepted"]]}, "accepted for devices that are away": {
            "number": [counts["accepted_away"]]}, "rows before they returned": {"number": [waiting]},
        "sent": {"rate": [counts["sent"] / seconds]}})
    shop.row("C2", "shown twice, or at another device", counts["shown_twice"] + counts["misdirected"], "C2 shown twice", {
        "received again and recognized": {"number": [counts["delivered_again"]]}})
    for problem in counts["problems"]:
        say(f"  PROBLEM: {problem}")
    for end in counts["stream_ends"]:
        say(f"  stream of {end}")
    shop.row("C2", "shown behind one that was sent later", counts["out_of_order"], "C2 out of order")


def keep_logs(shop):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="posthorn-patroni-logs."))
    for log in shop.root.glob("*/log"):
        shutil.copyfile(log, folder / f"{log.parent.name}.log")
    say(f"the logs of all servers are in {folder}")


def main():
    rows = int(os.environ.get("PATRONI_ROWS", ROWS))
    shop, failures, measured = Workshop(), {}, report.commit()
    try:
        perform(shop, rows)
    except (Failure, OSError, KeyError) as failure:
        failures["C2"] = f"{type(failure).__name__}: {failure}"
        say(f"  C2 FAILED: {failure}")
    finally:
        missed = [row for row in shop.rows if is_met(row["goal"], median(row["values"])) is False]
        if failures or missed:
            keep_logs(shop)
        shop.close()
    path, text = report.write(shop, measured, ["C2"], failures, f"PATRONI_ROWS={rows} Benchmarks/patroni.sh")
    print(text)
    say(f"written to {path}")
    return 1 if failures or missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
