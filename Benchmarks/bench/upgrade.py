# SPDX-License-Identifier: Apache-2.0
"""Replaces posthornd under load, and checks that no accepted notification is lost and no connection is refused."""
import json
import os
import shlex
import signal
import subprocess
import sys
import time

from .measure import Failure, Generator, say
from .posthorn import TOPIC, Posthorn
from .workshop import Workshop

DEVICE_COUNT = 1000
WAIT_SECONDS = 30
# Each of these counts must be 0.
FAULTS = ["lost", "shown_twice", "refused_connections", "broken_connections", "rejected", "unanswered"]


class Installed(Posthorn):
    """A server that already runs and has open enrolment; the prefix `enter` runs a command on its machine."""

    def __init__(self, workshop, port, enter):
        super().__init__(workshop)
        self.port = port
        self.enter = enter

    def admin(self, *arguments):
        done = subprocess.run([*self.enter, "posthorn", *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"posthorn {' '.join(arguments)}: {done.stderr}")
        # The command wrote the key to a file on the server's machine.
        if "key.p8" in arguments:
            key = subprocess.run([*self.enter, "cat", "key.p8"], capture_output=True, check=True).stdout
            (self.directory / "key.p8").write_bytes(key)
        return done.stdout


def replace_by_signal(server):
    """Sends SIGUSR2, and waits until the next process answers."""
    def started_at():
        return json.loads(server.admin("status", "--json"))["started_at"]
    before, deadline = started_at(), time.monotonic() + WAIT_SECONDS
    server.process.send_signal(signal.SIGUSR2)
    while time.monotonic() < deadline:
        time.sleep(0.05)
        try:
            if started_at() != before:
                return
        except Failure:
            continue
    raise Failure("the server did not start again")


class Upgrade:
    """One run: load before, during and after the upgrade."""

    def __init__(self, generator, replace, seconds):
        self.generator, self.replace, self.seconds = generator, replace, seconds
        self.phases = {}

    def run(self, token):
        self.generator.ask(f"token {token}")
        self.wait(lambda counts: counts["devices"] == DEVICE_COUNT)
        self.generator.ask("start")
        # The first second is for warming up.
        time.sleep(1)
        self.generator.ask("period")
        time.sleep(self.seconds)
        self.phases["before"] = self.generator.ask("period")
        start = time.monotonic()
        self.replace()
        say(f"upgrade: replaced after {time.monotonic() - start:.1f} s")
        self.wait(lambda counts: counts["devices"] == DEVICE_COUNT)
        self.phases["during"] = self.generator.ask("period")
        time.sleep(self.seconds)
        self.phases["after"] = self.generator.ask("period")
        self.generator.ask("stop")
        return self.wait(lambda counts: counts["outstanding"] == 0 and counts["lost"] == 0)

    def wait(self, is_done):
        """Waits at most WAIT_SECONDS for the expected counts, and returns the counts."""
        deadline = time.monotonic() + WAIT_SECONDS
        counts = self.generator.ask("counts")
        while not is_done(counts) and time.monotonic() < deadline:
            time.sleep(0.2)
            counts = self.generator.ask("counts")
        return counts


def milliseconds(latencies):
    return ", ".join(f"{name} {latencies[f'{name}_us'] / 1000:.1f}" for name in ("p50", "p99", "max")) + " ms"


def report(upgrade, counts):
    for phase, found in upgrade.phases.items():
        print(f"{phase}: accept {milliseconds(found['accept'])}; deliver {milliseconds(found['deliver'])}")
    print(f"sent {counts['sent']:,}, accepted {counts['accepted']:,}, delivered {counts['delivered']:,}; sent again after GOAWAY "
          f"{counts['unprocessed']}, delivered again {counts['delivered_again']}; "
          + ", ".join(f"{name.replace('_', ' ')} {counts[name]}" for name in FAULTS))
    return all(counts[name] == 0 for name in FAULTS) and counts["accepted"] == counts["sent"]


def main():
    seconds, rate = int(os.environ.get("UPGRADE_SECONDS", "10")), int(os.environ.get("UPGRADE_RATE", "2000"))
    command = os.environ.get("UPGRADE_COMMAND")
    shop = Workshop()
    try:
        if command:
            enter = shlex.split(os.environ.get("UPGRADE_ENTER", ""))
            server = Installed(shop, int(os.environ.get("UPGRADE_PORT", "2197")), enter)
            is_good = perform(server, lambda: subprocess.run(shlex.split(command), check=True), rate, seconds)
        else:
            with Posthorn(shop, ["--durability", "full"], loop_count=2) as server:
                is_good = perform(server, lambda: replace_by_signal(server), rate, seconds)
    finally:
        shop.close()
    print("upgrade: " + ("nothing was lost or refused" if is_good else "FAILED"))
    return 0 if is_good else 1


def perform(server, replace, rate, seconds):
    server.prepare(DEVICE_COUNT)
    options = [("port", server.port), ("topic", TOPIC), ("identities", server.identities), ("rate", rate)]
    with Generator("upgrade", options) as generator:
        upgrade = Upgrade(generator, replace, seconds)
        return report(upgrade, upgrade.run(server.token))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        say(f"upgrade: FAILED: {failure}")
        sys.exit(1)
