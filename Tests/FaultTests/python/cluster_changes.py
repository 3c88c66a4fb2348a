# SPDX-License-Identifier: Apache-2.0
"""Ends a key, an app, a device or a registration while providers at all nodes use it."""
import asyncio
import collections
import time

from cluster_peers import ClusterDevice
from device import Device

#: The number of senders at each node, and the average pause of each in seconds.
SENDER_COUNT, PAUSE = 2, 0.05
#: The number of notifications that each node must refuse.
REFUSAL_COUNT = 20


class Change:
    """A key, an app and a device of their own, of which an administrator or the device ends one.

    Until the change is over, the device connects to the last node only.
    """

    def __init__(self, run, kind, node, number):
        self.run, self.books, self.kind, self.node = run, run.books, kind, node
        self.topic = f"org.example.Ended{number}"
        self.senders, self.answered = [], None

    async def begin(self, patience):
        """Starts to send at each node, and waits until each has accepted a notification."""
        run = self.run
        await run.admin(self.node, "POST", "/v1/apps", {"topic": self.topic})
        self.key = await run.make_key(self.node)
        self.account = await asyncio.to_thread(Device, run.nodes[self.node], self.topic)
        token = await asyncio.to_thread(self.account.register, self.topic)
        self.device = ClusterDevice(run, self.account, run.random.random(), is_slow=False)
        self.device.nodes = run.nodes[-1:]
        run.add_device(self.device)
        target = self.key, self.account.id, self.topic, token
        self.senders = [run.add_sender(run.random, [node], lambda random: target, PAUSE)
                        for node in run.nodes for _ in range(SENDER_COUNT)]
        await self.wait("accepted", 1, {node.name for node in run.nodes}, patience, lambda one: one.is_accepted)

    async def make(self):
        """Makes the change, and records when it was answered. Returns the seconds until the answer."""
        start, removal = time.monotonic(), [self.books.tick(), None, float("inf")]
        if self.kind == "key":
            await self.run.admin(self.node, "DELETE", f"/v1/keys/{self.key.id}")
            self.books.revoked[self.key.id] = self.books.tick()
        elif self.kind == "app":
            self.books.removals[self.topic].append(removal)
            await self.run.admin(self.node, "DELETE", f"/v1/apps/{self.topic}")
        elif self.kind == "device":
            self.books.removals[self.device.id].append(removal)
            await self.run.admin(self.node, "DELETE", f"/v1/devices/{self.device.id}")
        else:
            self.books.removals[self.device.id, self.topic].append(removal)
            await asyncio.to_thread(self.account.unregister, self.topic)
        seconds = time.monotonic() - start
        self.answered = removal[1] = self.books.tick()
        return seconds

    def is_refused(self, one):
        return one.sent > self.answered and one.status not in (None, 200, 503)

    async def wait_for_refusals(self, nodes, patience):
        """Waits until each of these nodes has refused some notifications that were sent after the answer."""
        await self.wait("refused", REFUSAL_COUNT, nodes, patience, self.is_refused)

    async def end(self, patience):
        """Stops sending. Returns the number of refused notifications of each node."""
        for sender in self.senders:
            sender.is_over = True
        if self.kind == "device":
            deadline = time.monotonic() + patience
            while not self.device.is_refused:
                if time.monotonic() > deadline:
                    raise TimeoutError("a removed device still has a stream")
                await asyncio.sleep(0.02)
            self.run.devices.remove(self.device)
            self.device.is_over = True
            self.device.close()
        self.device.nodes = self.run.nodes
        return collections.Counter(one.node for one in self.sent() if self.is_refused(one))

    def sent(self):
        return (one for one in self.books.sent if one.key_id == self.key.id)

    async def wait(self, word, count, nodes, patience, is_expected):
        deadline = time.monotonic() + patience
        while True:
            counts = collections.Counter(one.node for one in self.sent() if is_expected(one))
            missing = sorted(node for node in nodes if counts[node] < count)
            if not missing:
                return
            if time.monotonic() > deadline:
                raise TimeoutError(f"{missing} have {word} fewer than {count} notifications in {patience} seconds")
            await asyncio.sleep(0.02)
