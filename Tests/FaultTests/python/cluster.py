# SPDX-License-Identifier: Apache-2.0
"""Sends to the devices of a cluster while a test breaks it, and compares the promises with the deliveries.

Reads commands as JSON lines and answers each: see Tests/EndToEndTests/Providers/wire.py. The test starts and kills the
servers. This program runs the proxies, providers and devices, and keeps the books.
"""
import asyncio
import logging
import os
import random as randomness
import time

import wire
from catalogue import Unmet
from cluster_books import ClusterBooks
from cluster_changes import Change
from cluster_peers import ClusterDevice, Connections, Node, Sender
from cluster_proxy import Proxies
from device import Device
from tokens import Key

TOPICS = ["org.example.Mail", "org.example.News"]
#: The app that administrators remove and add again.
REMOVED_TOPIC = "org.example.Extra"
PATIENCE = 90 * int(os.environ.get("POSTHORN_TEST_PATIENCE") or 1)
#: The time in seconds without a delivery after which nothing more is expected.
QUIET = 6 * int(os.environ.get("POSTHORN_TEST_PATIENCE") or 1)
ADMIN_ERRORS = (OSError, Unmet)


class Run:
    """A run on one cluster."""

    def __init__(self):
        self.books, self.proxies = ClusterBooks(), Proxies()
        self.connections = Connections(self.books)
        self.nodes, self.devices, self.senders, self.tasks = [], [], [], []
        self.stay_seconds = 15
        #: The key that is revoked next; its senders also use it some time afterwards.
        self.revocable = None
        self.removable_addresses = []
        #: The current change: see cluster_changes.py.
        self.change, self.change_count = None, 0

    def pad(self, random):
        """Returns the number of bytes to add to a payload."""
        return random.choice([0, 0, 100, 2000])

    # The beginning

    async def proxy(self, name, port, postgres_sockets, directory, **_):
        """Starts the proxies of a node."""
        return {"port": await self.proxies.add_node(name, port, postgres_sockets, directory)}

    async def process(self, name, identifier, **_):
        """Records the process of a node."""
        self.proxies.processes[name] = identifier
        return {}

    async def start(self, nodes, seed, devices, away, senders, pause, stay, **_):
        """Enrols the devices and starts to send."""
        random = self.random = randomness.Random(seed)
        self.nodes, self.stay_seconds = [Node(**node) for node in nodes], stay
        for topic in [*TOPICS, REMOVED_TOPIC]:
            await self.admin(0, "POST", "/v1/apps", {"topic": topic})
        self.key, self.revocable = await self.make_key(0), await self.make_key(0)
        addresses = await self.enrol(devices, away, random)

        def any_address(random):
            return self.key, *random.choice(addresses)

        for number in range(senders):
            # Every other sender stays at one node.
            places = [self.nodes[number // 2 % len(self.nodes)]] if number % 2 == 0 else self.nodes
            self.add_sender(random, places, any_address, pause)
        self.add_sender(random, self.nodes, lambda random: (self.revocable, *random.choice(addresses)), 2 * pause)
        self.add_sender(
            random, self.nodes,
            lambda random: self.removable_addresses and (self.key, *random.choice(self.removable_addresses)), 2 * pause)
        return {}

    async def enrol(self, count, away, random):
        gate = asyncio.Semaphore(4)

        async def enrol_one(number):
            async with gate:
                device = await asyncio.to_thread(Device, self.nodes[number % len(self.nodes)], f"device-{number}")
                return device, [await asyncio.to_thread(device.register, topic) for topic in TOPICS]

        made = await asyncio.gather(*(enrol_one(number) for number in range(count)))
        self.plain_devices = [device for device, _ in made]
        for number, device in enumerate(self.plain_devices):
            self.devices.append(ClusterDevice(self, device, random.random(), is_slow=number % 2 == 1))
            self.devices[-1].is_away = number < away
        await self.register_removable()
        self.tasks += [asyncio.create_task(device.live()) for device in self.devices]
        return [(device.id, topic, token) for device, tokens in made for topic, token in zip(TOPICS, tokens)]

    def add_device(self, device):
        self.devices.append(device)
        self.tasks.append(asyncio.create_task(device.live()))

    def add_sender(self, random, nodes, choose, pause):
        sender = Sender(self, randomness.Random(random.random()), nodes, choose)
        self.senders.append(sender)
        self.tasks.append(asyncio.create_task(sender.send(pause)))
        return sender

    # Administrators

    async def admin(self, node, *request):
        return await asyncio.to_thread(self.nodes[node].admin.ask, *request)

    async def make_key(self, node):
        made = await self.admin(node, "POST", "/v1/keys", {})
        return Key.from_pem(made["private_key"], made["key_id"], made["team_id"])

    async def register_removable(self):
        devices = self.plain_devices[:5]
        tokens = [await asyncio.to_thread(device.register, REMOVED_TOPIC) for device in devices]
        self.removable_addresses = [
            (device.id, REMOVED_TOPIC, token) for device, token in zip(devices, tokens)]

    async def revoke(self, node, **_):
        """Revokes a key at a node, whose sender continues with it for a while, then with a new one."""
        key = self.revocable
        try:
            await self.admin(node, "DELETE", f"/v1/keys/{key.id}")
        except ADMIN_ERRORS as error:
            return {"done": False, "error": f"{error}"}
        self.books.revoked[key.id] = self.books.tick()
        await asyncio.sleep(2)
        self.revocable = await self.retry(self.make_key, node)
        return {"done": True}

    async def remove_app(self, node, **_):
        """Removes an app at a node, then adds it again."""
        removal = [self.books.tick(), None, float("inf")]
        self.books.removals[REMOVED_TOPIC].append(removal)
        try:
            await self.admin(node, "DELETE", f"/v1/apps/{REMOVED_TOPIC}")
        except ADMIN_ERRORS as error:
            removal[2] = self.books.tick()
            return {"done": False, "error": f"{error}"}
        removal[1] = self.books.tick()
        await asyncio.sleep(2)
        removal[2] = self.books.tick()
        self.removable_addresses = []
        await self.retry(self.admin, node, "POST", "/v1/apps", {"topic": REMOVED_TOPIC})
        await self.retry(self.register_removable)
        return {"done": True}

    async def retry(self, action, *arguments):
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return await action(*arguments)
            except ADMIN_ERRORS as error:
                if time.monotonic() > deadline:
                    raise
                self.books.note(f"retry after {error}")
                await asyncio.sleep(0.5)

    async def begin_change(self, kind, node, **_):
        """Lets providers at all nodes use something that ends next."""
        self.change_count += 1
        self.change = Change(self, kind, node, self.change_count)
        await self.change.begin(PATIENCE)
        return {}

    async def make_change(self, **_):
        """Ends it. Returns the seconds until the answer."""
        return {"seconds": round(await self.change.make(), 3)}

    async def refused(self, nodes, **_):
        """Waits until each of these nodes has refused some notifications that were sent after the answer."""
        await self.change.wait_for_refusals(nodes, PATIENCE)
        return {}

    async def end_change(self, **_):
        """Ends the sending. Returns the number of refused notifications of each node."""
        return {"refused": await self.change.end(PATIENCE)}

    # Faults

    async def cut(self, directions, **_):
        self.proxies.cut(map(tuple, directions))
        return {}

    async def heal(self, directions, resets, **_):
        self.proxies.heal(map(tuple, directions), resets)
        return {}

    async def listening(self, server, is_listening, **_):
        """Records that a server of PostgreSQL was started or killed."""
        await self.proxies.set_listening(server, is_listening)
        return {}

    async def note(self, text, **_):
        """Records a fault. Returns the time."""
        self.books.note(text)
        return {"time": time.time()}

    async def serving(self, **_):
        """Waits until each node has accepted a notification that was sent from now on."""
        since, deadline = time.time(), time.monotonic() + PATIENCE
        missing = {node.name for node in self.nodes}
        while missing and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
            missing -= {node for node, sent_at in self.books.latest_accepted.items() if sent_at > since}
        for node in sorted(missing):
            self.books.problem(f"{node} accepts nothing {PATIENCE} seconds after all faults have ended")
        return {"seconds": round(time.time() - since, 2), "missing": sorted(missing)}

    async def accepted(self, count, **_):
        """Waits until this number of further notifications is accepted."""
        deadline, end = time.monotonic() + PATIENCE, count + self.books.accepted_count
        while self.books.accepted_count < end:
            if time.monotonic() > deadline:
                raise TimeoutError(f"fewer than {count} notifications were accepted in {PATIENCE} seconds")
            await asyncio.sleep(0.02)
        return {}

    async def figures(self, since, until, **_):
        return self.books.figures(since, until or time.time())

    # The end

    async def settle(self, **_):
        """Stops sending, and lets all devices receive everything."""
        for sender in self.senders:
            sender.is_over = True
        for device in self.devices:
            device.is_draining = True
        await self.drain()
        # A fail-over may have lost the deletion of a row, which comes again on a new stream.
        for device in self.devices:
            device.renew()
        await self.drain()
        return {"nodes": {device.id: device.screen.node for device in self.devices}}

    async def drain(self):
        """Waits until all devices are connected and have what they were promised."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            await asyncio.sleep(0.5)
            for task in self.tasks:
                if task.done() and task.exception():
                    raise task.exception()
            is_idle = not any(provider.waiting for provider in self.connections.known.values()
                              if not provider.is_closed)
            is_quiet = self.books.deliveries and time.time() - self.books.deliveries[-1][0] > QUIET
            if is_idle and all(device.screen.node for device in self.devices) and (
                    is_quiet or not self.books.missing()):
                break

    async def report(self, **_):
        ends = self.books.balance()
        return {"ends": dict(ends), "sent": len(self.books.sent)} | self.books.report()

    async def close(self, **_):
        for participant in [*self.devices, *self.senders]:
            participant.is_over = True
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for device in self.devices:
            device.close()
        self.connections.close()
        return {}


async def main():
    run = Run()
    names = ["proxy", "process", "start", "revoke", "remove_app", "cut", "heal", "listening", "note", "serving", "accepted",
             "figures", "begin_change", "make_change", "refused", "end_change", "settle", "report", "close"]
    await wire.serve({name: getattr(run, name) for name in names})


# The libraries warn of each write to a server that was killed.
logging.disable(logging.CRITICAL)
asyncio.run(main())
