# SPDX-License-Identifier: Apache-2.0
"""A provider that sends until its connection ends."""
import asyncio
import json
import ssl
import time

import h2.connection
import h2.events
import h2.exceptions


class Provider:
    """One HTTP/2 connection, on which many tasks may call `post` at the same time."""

    def __init__(self, stack, books):
        self.stack, self.books = stack, books
        self.connection = h2.connection.H2Connection()
        self.waiting, self.progress = {}, asyncio.Event()
        self.is_closed = False
        self.reader = self.writer = None

    async def connect(self):
        context = ssl.create_default_context(cafile=self.stack.ca_file)
        context.set_alpn_protocols(["h2"])
        self.reader, self.writer = await asyncio.open_connection(self.stack.host, self.stack.port, ssl=context)
        self.connection.initiate_connection()
        self.flush()

    def flush(self):
        if not self.writer.transport.is_closing():
            self.writer.write(self.connection.data_to_send())

    async def read(self):
        """Reads answers until the connection ends."""
        try:
            while data := await self.reader.read(1 << 16):
                for event in self.connection.receive_data(data):
                    self.take(event)
                self.flush()
                self.progress.set()
        except (OSError, h2.exceptions.ProtocolError):
            pass  # The server was killed.
        finally:
            self.is_closed = True
            self.progress.set()
            for _, answer in self.waiting.values():
                answer.cancel()
            self.writer.transport.abort()

    def take(self, event):
        if isinstance(event, h2.events.ResponseReceived):
            fields = {name.decode(): value.decode() for name, value in event.headers}
            notification, _ = self.waiting[event.stream_id]
            self.books.answer(notification, int(fields[":status"]), fields.get("apns-unique-id"))
        elif isinstance(event, h2.events.DataReceived):
            self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            self.waiting.pop(event.stream_id)[1].set_result(None)

    async def post(self, notification, device_token, fields, body):
        """Sends a notification and waits for its answer. Raises when the connection ends before."""
        stream = self.connection.get_next_available_stream_id()
        answer = asyncio.get_running_loop().create_future()
        self.waiting[stream] = (notification, answer)
        self.connection.send_headers(stream, [
            (":method", "POST"), (":scheme", "https"), (":path", f"/3/device/{device_token}"),
            (":authority", self.stack.host), ("authorization", f"bearer {self.stack.provider_token}"), *fields])
        while self.connection.local_flow_control_window(stream) < len(body):
            self.flush()
            self.progress.clear()
            await self.progress.wait()
            if self.is_closed:
                raise ConnectionError
        self.connection.send_data(stream, body, end_stream=True)
        self.flush()
        await answer


def draw(random):
    """Draws the collapse ID and the expiration of the next notification: ordinary ones, and those of each rule."""
    kind = random.random()
    if kind < 0.4:
        return None, None
    if kind < 0.65:
        return f"c{random.randrange(3)}", None
    if kind < 0.8:
        return None, 0
    return random.choice([None, "c0"]), int(time.time()) + random.randint(0, 3)


async def send_on(provider, random, addresses):
    """Sends notifications one after the other to one device token until the connection ends."""
    device, topic, token = random.choice(addresses)
    while not provider.is_closed:
        collapse, expiration = draw(random)
        notification = provider.books.send(device, topic, collapse, expiration)
        fields = [("apns-topic", topic)]
        if collapse:
            fields.append(("apns-collapse-id", collapse))
        if expiration is not None:
            fields.append(("apns-expiration", str(expiration)))
        padding = "p" * random.choice([0, 0, 100, 2000])
        body = json.dumps({"aps": {"alert": "x"}, "n": notification.number, "pad": padding}).encode()
        await provider.post(notification, token, fields, body)


async def send_until_killed(stack, books, random, addresses, at_a_time):
    """Keeps `at_a_time` requests pending on one connection."""
    provider = Provider(stack, books)
    await provider.connect()
    await asyncio.gather(
        provider.read(), *(send_on(provider, random, addresses) for _ in range(at_a_time)), return_exceptions=True)
