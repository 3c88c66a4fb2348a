# SPDX-License-Identifier: Apache-2.0
"""Scenarios of a cluster in which a node or the primary of PostgreSQL stops under load."""
import contextlib
import threading
import time

from .measure import Failure, Generator, say
from .posthorn import TOPIC
from .postgres import wait_until

DRAIN_DEVICES, DRAIN_RATE, CALM_SECONDS = 300, 300, 5
# With that many notifications that wait, a lost one is 1 in a million.
LOSS_COUNT, LOSS_DEVICES = 1_000_000, 500
# The share of them that is accepted before the primary is killed.
LOSS_SHARE = 0.4


class Drain:
    """A load on a cluster, of which one node is drained, stopped, started and undrained."""

    def __init__(self, cluster, generator):
        self.cluster, self.generator = cluster, generator
        self.seconds = {}

    def counts_when(self, is_done):
        """Waits for the expected counts of the generator, and returns the last ones."""
        found = {}

        def check():
            found.update(self.generator.ask("counts"))
            return is_done(found)
        with contextlib.suppress(Failure):
            wait_until(check, "")
        return found

    def timed(self, what, action):
        start = time.monotonic()
        action()
        self.seconds[what] = time.monotonic() - start
        say(f"  C6. {what} after {self.seconds[what]:.1f} s")

    def run(self):
        node, ask = self.cluster.nodes[1], self.generator.ask
        ask(f"token {self.cluster.first.token}")
        self.counts_when(lambda counts: counts["devices"] == DRAIN_DEVICES)
        ask("start")
        time.sleep(CALM_SECONDS)
        ask("period")
        self.timed("drained", lambda: self.cluster.first.admin("cluster", "drain", node.node_name))
        self.timed("stopped", node.stop)
        time.sleep(CALM_SECONDS)
        self.timed("started", node.restart)
        self.cluster.first.admin("cluster", "undrain", node.node_name)
        time.sleep(CALM_SECONDS)
        ask("stop")
        return self.counts_when(
            lambda counts: counts["outstanding"] == 0 and counts["lost"] == 0 and counts["devices"] == DRAIN_DEVICES)


def scenario_c6(pair, shop):
    """Drains a node under load, stops it, starts it again and undrains it."""
    cluster = pair.cluster
    options = [("port", cluster.ports), ("topic", TOPIC), ("identities", cluster.devices(DRAIN_DEVICES)),
               ("rate", DRAIN_RATE)]
    with Generator("upgrade", options) as generator:
        drain = Drain(cluster, generator)
        counts = drain.run()
    shop.keep("C6", f"{DRAIN_RATE}/s to {DRAIN_DEVICES} devices", {"cluster": [counts | drain.seconds]})
    figures = {"sent": {"number": [counts["sent"]]}, "accepted": {"number": [counts["accepted"]]},
               "unanswered": {"number": [counts["unanswered"]]},
               "under another number": {"number": [counts["shown_twice"]]}}
    shop.row("C6", "accepted and lost", counts["lost"], "C6 lost", figures)
    shop.row("C6", "answered with 503", counts["rejected"], "C6 503")
    for what, absence in (("", counts["absence"]), (", if no node refused it", counts["short_absence"])):
        shop.row("C6", f"seconds that a device was away, longest{what}", absence["max_us"] / 1e6, "C6 away", {
            "p50": {"seconds": [absence["p50_us"] / 1e6]}, "devices": {"number": [absence["count"]]},
            **({} if what else {"refused streams": {"number": [counts["refused_streams"]]}})})
    shop.row("C6", "ms to accept, p99", counts["accept"]["p99_us"] / 1000, figures={
        "longest": {"ms": [counts["accept"]["max_us"] / 1000]},
        **{what: {"seconds": [seconds]} for what, seconds in drain.seconds.items()}})


def scenario_c2(pair, shop):
    """Kills the primary of PostgreSQL while a million notifications are sent, and promotes a standby."""
    cluster = pair.cluster
    identities = cluster.devices(LOSS_DEVICES)
    options = [("protocol", "http2"), ("port", cluster.ports), ("publishers", 15), ("identities", identities),
               *cluster.headers()]
    before = pending(cluster)
    with Generator("load", options) as generator:
        answer = {}
        sender = threading.Thread(target=lambda: answer.update(ask_or_fail(generator, f"closed {LOSS_COUNT} 25")))
        sender.start()
        while sender.is_alive() and pending(cluster) - before < LOSS_SHARE * LOSS_COUNT:
            time.sleep(1)
        if not sender.is_alive():
            raise Failure(f"the load ended before the primary was killed: {answer}")
        seconds = cluster.trio.lose_primary()
        say(f"  C2. the primary was killed and a standby promoted in {seconds:.1f} s")
        sender.join()
    if "failure" in answer:
        raise Failure(answer["failure"])
    waiting = pending(cluster) - before
    shop.keep("C2", f"closed {LOSS_COUNT} 25", {"cluster": [answer | {"waiting": waiting, "promotion": seconds}]})
    shop.row("C2", "accepted and lost", max(0, LOSS_COUNT - waiting), "C2 lost", {
        "accepted": {"number": [LOSS_COUNT]}, "rows": {"number": [waiting]},
        "cluster": {"rate": [LOSS_COUNT / answer["seconds"]]}})
    shop.row("C2", "seconds of the longest answer", answer["accept"]["max_us"] / 1e6, figures={
        "primary killed and standby promoted": {"seconds": [seconds]}})


def pending(cluster):
    """Returns the exact number of notifications that wait."""
    return int(cluster.trio.primary.sql("SELECT count(*) FROM posthorn.pending"))


def ask_or_fail(generator, question):
    try:
        return generator.ask(question)
    except Failure as failure:
        return {"failure": f"{failure}"}
