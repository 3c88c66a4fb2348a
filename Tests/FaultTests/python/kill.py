# SPDX-License-Identifier: Apache-2.0
"""Kills a server repeatedly at random moments under load, and compares its promises with the deliveries.

  kill.py --rounds N [--seed N] [--durability full|normal|relaxed]

Providers send on several connections to devices that connect and disconnect. After the last round every device drains
its pending notifications. Prints one JSON object: the ends of the accepted notifications, and each broken promise.
"""
import argparse
import asyncio
import http.client
import json
import logging
import os
import random as randomness
import subprocess
import sys
import time

from books import Books
from desks import Desk
from device import Device
from provider import send_until_killed
from server import PROGRAM, InstalledServer

DEVICE_COUNT = 6
TOPICS = ["org.example.Mail", "org.example.News"]
CONNECTION_COUNT = 3
AT_A_TIME = 5
PENDING_PER_TOPIC, PENDING_PER_DEVICE = 12, 20
#: The time limit in seconds. A server sweeps expired notifications every 30 seconds.
PATIENCE = 90 * int(os.environ.get("POSTHORN_TEST_PATIENCE") or 1)


class Run:
    """All rounds on one data directory."""

    def __init__(self, seed, durability):
        self.random, self.books = randomness.Random(seed), Books()
        self.server = InstalledServer(
            "--pending-per-topic", str(PENDING_PER_TOPIC), "--pending-per-device", str(PENDING_PER_DEVICE),
            "--durability", durability, "--loops", "2")
        self.admin = self.server.stack.admin
        self.admin.ask("POST", "/v1/apps", {"topic": TOPICS[1]})
        devices = [Device(self.server.stack, f"desk-{number}") for number in range(DEVICE_COUNT)]
        self.addresses = [(one.id, topic, one.register(topic)) for one in devices for topic in TOPICS]
        self.desks = [Desk(one, self.books, self.random.random()) for one in devices]

    # Rounds

    async def round(self):
        """Runs one life of the server."""
        self.books.life += 1
        for desk in self.desks:
            desk.is_over = False
        baseline = self.baseline()
        work = [desk.live() for desk in self.desks] + [self.count(baseline)] + [
            send_until_killed(
                self.server.stack, self.books, randomness.Random(self.random.random()), self.addresses, AT_A_TIME)
            for _ in range(CONNECTION_COUNT)]
        tasks = [asyncio.create_task(one) for one in work]
        await asyncio.sleep(self.random.uniform(0.05, 0.9))
        self.end_life()
        for result in await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), PATIENCE):
            if isinstance(result, Exception) and not isinstance(result, OSError):
                raise result

    def end_life(self):
        self.server.kill()
        for desk in self.desks:
            desk.is_over = True
        if self.random.random() < 0.2:
            # A second kill comes at a random moment of the start.
            self.server.boot()
            time.sleep(self.random.uniform(0, 0.15))
            self.server.kill()
        self.server.start()

    def baseline(self):
        """Returns the accepted and pending notifications less the finished ones, which is constant during a life."""
        counts = self.admin.ask("GET", "/v1/status")["counts"]
        gone = sum(counts[name] for name in ("acknowledged", "collapsed", "expired", "dropped", "unregistered"))
        return counts["pending"] + gone - counts["accepted"]

    async def count(self, baseline):
        """Checks repeatedly whether the counts balance, until the server is killed."""
        life = self.books.life
        try:
            while not self.desks[0].is_over:
                await asyncio.sleep(0.1)
                now = await asyncio.to_thread(self.baseline)
                if now != baseline and not self.desks[0].is_over:
                    self.books.problem(f"life {life}: the counts are off by {now - baseline}")
        except (OSError, http.client.HTTPException):
            pass  # The server was killed.

    # The end of the run

    async def drain(self, is_long):
        """Lets every device receive and acknowledge its pending notifications."""
        self.books.life += 1
        for desk in self.desks:
            desk.is_over, desk.is_draining = False, True
        tasks = [asyncio.create_task(desk.live()) for desk in self.desks]
        traces = await self.wait_until_drained(is_long)
        for desk in self.desks:
            desk.is_over = True
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result
        return traces

    async def wait_until_drained(self, is_long):
        """Returns the traces once only expired, unswept notifications are pending, or in a long run none at all."""
        deadline = time.monotonic() + PATIENCE
        while True:
            pending = (await asyncio.to_thread(self.admin.ask, "GET", "/v1/status"))["counts"]["pending"]
            traces = await asyncio.to_thread(self.traces)
            waiting, is_over = self.books.waiting(traces)
            if is_over and len(waiting) == pending and (pending == 0 or not is_long):
                return traces
            if time.monotonic() > deadline:
                self.books.problem(f"{pending} still wait, {len(waiting)} by their traces")
                return traces
            await asyncio.sleep(0.5)

    def traces(self):
        """Returns the events of each notification in order, by its unique ID."""
        traces, sequences = {}, {}
        for topic in TOPICS:
            after = 0
            while after is not None:
                page = self.admin.ask("GET", f"/v1/trace?app={topic}&limit=1000&after={after}")
                for event in page["events"]:
                    traces.setdefault(event.get("apns_unique_id"), []).append(event)
                    if event["event"] == "accepted":
                        unique_id = sequences.setdefault(event["sequence"], event["apns_unique_id"])
                        if unique_id != event["apns_unique_id"]:
                            self.books.problem(f"the trace has one sequence twice: {event}")
                after = page.get("next")
        return traces

    def stop(self):
        """Stops the server with SIGTERM, and checks its database file."""
        self.server.terminate()
        code = self.server.process.wait(PATIENCE)
        self.server.reap()
        if code != 0:
            self.books.problem(f"posthornd ended with {code}: {self.server.story()}")
        check = subprocess.run(
            [PROGRAM, "--data-directory", f"{self.server.directory}/data", "--check"], capture_output=True, text=True)
        if check.returncode != 0:
            self.books.problem(f"--check: {check.returncode} {check.stdout} {check.stderr}")


async def perform(run, rounds):
    for _ in range(rounds):
        await run.round()
    traces = await run.drain(is_long=rounds >= 100)
    await asyncio.to_thread(run.stop)
    return run.books.balance(traces)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--seed", type=int, default=randomness.randrange(1 << 32))
    parser.add_argument("--durability", default="full")
    arguments = parser.parse_args()
    # asyncio warns of each write to a server that was killed.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    run = Run(arguments.seed, arguments.durability)
    with run.server:
        ends = asyncio.run(perform(run, arguments.rounds))
    books = run.books
    print(json.dumps({
        "seed": arguments.seed, "rounds": arguments.rounds, "sent": len(books.sent),
        "accepted": sum(one.is_accepted for one in books.sent),
        "redelivered": sum(screen.redelivered_count for screen in books.screens.values()),
        "ends": dict(ends), "problem_count": len(books.problems), "problems": books.problems[:20]}))
    return 1 if books.problems else 0


sys.exit(main())
