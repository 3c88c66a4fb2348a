# SPDX-License-Identifier: Apache-2.0
"""A provider that inspects frames: reports an answer's header fields, the number of its DATA frames, and what ended it.
"""
import asyncio
import ssl

import h2.config
import h2.connection
import h2.events
import h2.settings

import wire


class Client:
    def __init__(self):
        self.reader = self.writer = self.connection = None
        self.changed = asyncio.Condition()
        self.responses = {}
        self.goaways = []
        self.unread = b""
        self.closed = False
        self.pump = None

    async def connect(self, host, port, ca_file, alpn=True, server_name=None, window=None, **_):
        context = ssl.create_default_context(cafile=ca_file)
        if alpn:
            context.set_alpn_protocols(["h2"])
        self.reader, self.writer = await asyncio.open_connection(
            host, port, ssl=context, server_hostname=server_name or host)
        # Tests send requests that break rules, so outgoing requests are neither validated nor normalized.
        self.connection = h2.connection.H2Connection(h2.config.H2Configuration(
            header_encoding="utf-8", validate_outbound_headers=False, normalize_outbound_headers=False))
        self.connection.initiate_connection()
        if window is not None:
            self.connection.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window})
        await self.flush()
        self.pump = asyncio.create_task(self.receive())
        certificate = self.writer.get_extra_info("ssl_object").getpeercert()
        return {"serial": certificate["serialNumber"]}

    async def flush(self):
        self.writer.write(self.connection.data_to_send())
        await self.writer.drain()

    async def receive(self):
        try:
            while data := await self.reader.read(65536):
                self.take(data)
                await self.flush()
                await self.notify()
        except OSError:
            pass
        self.closed = True
        await self.notify()

    def take(self, data):
        """Passes whole frames to h2, except GOAWAY, after which h2 would stop using this connection."""
        self.unread += data
        while len(self.unread) >= 9:
            end = 9 + int.from_bytes(self.unread[:3], "big")
            if len(self.unread) < end:
                return
            frame, self.unread = self.unread[:end], self.unread[end:]
            if frame[3] == 7:
                self.goaways.append({
                    "last_stream": int.from_bytes(frame[9:13], "big"), "code": int.from_bytes(frame[13:17], "big"),
                    "debug": frame[17:].decode()})
                continue
            for event in self.connection.receive_data(frame):
                self.note(event)

    async def notify(self):
        async with self.changed:
            self.changed.notify_all()

    def note(self, event):
        if isinstance(event, h2.events.ResponseReceived):
            response = self.responses[event.stream_id]
            response["headers"] = [list(field) for field in event.headers]
            response["ended_by"] = "headers" if event.stream_ended else None
        elif isinstance(event, h2.events.DataReceived):
            response = self.responses[event.stream_id]
            response["data"].append(event.data.decode())
            response["ended_by"] = "data" if event.stream_ended else response["ended_by"]
            self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            self.responses[event.stream_id]["ended"] = True
        elif isinstance(event, h2.events.StreamReset):
            self.responses[event.stream_id]["reset"] = int(event.error_code)

    async def open(self, headers, body=None, end=True, **_):
        """Sends the header fields and an optional body. `end` false leaves the request open."""
        stream = self.connection.get_next_available_stream_id()
        self.responses[stream] = {"headers": [], "data": [], "ended": False, "ended_by": None, "reset": None}
        self.connection.send_headers(stream, [tuple(field) for field in headers], end_stream=end and body is None)
        await self.flush()
        if body is not None:
            await self.data(stream, body, end)
        return {"stream": stream}

    async def open_together(self, headers, count, **_):
        """Sends the same request without a body on several streams, in one write."""
        streams = []
        for _ in range(count):
            stream = self.connection.get_next_available_stream_id()
            self.responses[stream] = {"headers": [], "data": [], "ended": False, "ended_by": None, "reset": None}
            self.connection.send_headers(stream, [tuple(field) for field in headers], end_stream=True)
            streams.append(stream)
        await self.flush()
        return {"streams": streams}

    async def headers(self, stream, seconds=30, **_):
        """Returns the answer on a stream once its head has arrived. The body may never arrive."""
        response = self.responses[stream]
        await self.until(lambda: response["headers"] or response["reset"] is not None or self.closed, seconds)
        return response

    async def data(self, stream, body, end, **_):
        body = body.encode()
        size = self.connection.max_outbound_frame_size
        for start in range(0, max(1, len(body)), size):
            chunk = body[start:start + size]
            self.connection.send_data(stream, chunk, end_stream=end and start + size >= len(body))
        await self.flush()
        return {"stream": stream}

    async def until(self, condition, seconds):
        async with self.changed:
            await asyncio.wait_for(self.changed.wait_for(condition), seconds)

    async def response(self, stream, seconds=30, **_):
        response = self.responses[stream]
        await self.until(lambda: response["ended"] or response["reset"] is not None or self.closed, seconds)
        return response

    async def goaway(self, seconds=30, **_):
        """Returns all GOAWAY frames, once the server has closed the connection."""
        await self.until(lambda: self.closed, seconds)
        return {"goaways": self.goaways}

    async def first_goaway(self, seconds=30, **_):
        await self.until(lambda: self.goaways or self.closed, seconds)
        return {"goaways": self.goaways}

    async def sign(self, **arguments):
        return {"token": wire.provider_token(**arguments)}


async def main():
    client = Client()
    names = ("connect", "open", "open_together", "data", "headers", "response", "goaway", "first_goaway", "sign")
    await wire.serve({name: getattr(client, name) for name in names})


asyncio.run(main())
