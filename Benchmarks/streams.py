# SPDX-License-Identifier: Apache-2.0
"""Measures the server's cost of a device stream: WebSocket, and server-sent events over HTTP/1.1 and HTTP/2.

Reports the memory of an idle TLS connection, and the CPU time of a notification from provider to acknowledgement.

    .venv/bin/python Benchmarks/streams.py [CONNECTIONS] [NOTIFICATIONS]

Starts a `posthornd --ephemeral` of .build/release (or of POSTHORN_PROGRAMS) for each form, with one loop."""
import asyncio
import base64
import json
import os
import pathlib
import ssl
import struct
import subprocess
import sys
import time

import h2.config
import h2.connection
import h2.events
import httpx

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests/EndToEndTests/Providers"))
import wire  # noqa: E402

TOPIC = "org.example.Bench"
PAYLOAD = json.dumps({"aps": {"alert": {"title": "Lunch", "body": "At noon, the usual place."}, "sound": "default"}})


class Stream:
    """One device with its stream and its acknowledgements."""

    def __init__(self, bench, secret):
        self.bench, self.secret, self.received, self.input = bench, secret, 0, b""

    async def dial(self, protocol):
        context = self.bench.contexts[protocol]
        return await asyncio.open_connection("127.0.0.1", self.bench.port, ssl=context, server_hostname="localhost")

    def head(self, method, path, *fields):
        return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {self.secret}",
                            *fields, "", ""]).encode()

    def got(self, number):
        self.received += 1
        self.bench.received += 1
        return json.dumps({"acks": [{"id": number, "outcome": "delivered"}]}).encode()


class WebSocket(Stream):
    async def open(self):
        self.reader, self.writer = await self.dial("http/1.1")
        key = base64.b64encode(os.urandom(16)).decode()
        self.writer.write(self.head(
            "GET", "/v1/stream", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Protocol: posthorn.v1", f"Sec-WebSocket-Key: {key}"))
        assert b" 101 " in await self.reader.readuntil(b"\r\n\r\n")

    async def run(self):
        while True:
            head = await self.reader.readexactly(2)
            length = head[1] & 127
            if length == 126:
                length, = struct.unpack(">H", await self.reader.readexactly(2))
            body = await self.reader.readexactly(length)
            if head[0] & 15 == 9:
                self.frame(10, body)
            elif head[0] & 15 == 1:
                self.frame(1, self.got(json.loads(body)["notification"]["id"]))

    def frame(self, opcode, data):
        # A mask of zeros is also valid.
        self.writer.write(bytes([0x80 | opcode, 0x80 | len(data)]) + bytes(4) + data)


class Events1(Stream):
    async def open(self):
        self.reader, self.writer = await self.dial("http/1.1")
        self.writer.write(self.head("GET", "/v1/stream"))
        assert b" 200 " in await self.reader.readuntil(b"\r\n\r\n")
        self.acks = None

    async def run(self):
        while line := await self.reader.readline():
            if not line.startswith(b"id: "):
                continue
            body = self.got(int(line[4:]))
            if not self.acks:
                self.acks = await self.dial("http/1.1")
            reader, writer = self.acks
            writer.write(self.head("POST", "/v1/acks", f"Content-Length: {len(body)}") + body)
            await reader.readuntil(b"\r\n\r\n")


class Events2(Stream):
    async def open(self):
        self.reader, self.writer = await self.dial("h2")
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.http.initiate_connection()
        self.ask("GET", "/v1/stream", None)
        while b"data" not in self.input:
            self.take(await self.reader.read(65536))

    def ask(self, method, path, body):
        stream = self.http.get_next_available_stream_id()
        self.http.send_headers(stream, [
            (":method", method), (":scheme", "https"), (":authority", "localhost"), (":path", path),
            ("authorization", f"Bearer {self.secret}")], end_stream=body is None)
        if body is not None:
            self.http.send_data(stream, body, end_stream=True)
        self.writer.write(self.http.data_to_send())

    def take(self, data):
        for event in self.http.receive_data(data):
            if isinstance(event, h2.events.DataReceived):
                self.http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                self.input += b"data" if not self.received else b""
                for line in event.data.split(b"\n"):
                    if line.startswith(b"id: "):
                        self.ask("POST", "/v1/acks", self.got(int(line[4:])))
        self.writer.write(self.http.data_to_send())

    async def run(self):
        while data := await self.reader.read(65536):
            self.take(data)


class Bench:
    """One server with its devices, all with the same form of stream."""

    def __init__(self, form):
        self.form, self.received = form, 0
        programs = os.environ.get("POSTHORN_PROGRAMS", ROOT / ".build/release")
        self.process = subprocess.Popen(
            [f"{programs}/posthornd", "--ephemeral", "--log-level", "warning", "--open-enrolment", "yes", "--topic", TOPIC,
             "--loops", "1"], stdout=subprocess.PIPE)
        self.facts = json.loads(self.process.stdout.readline())
        self.port = self.facts["port"]
        self.contexts = {}
        for protocol in ["http/1.1", "h2", "provider"]:
            self.contexts[protocol] = ssl.create_default_context(cafile=self.facts["ca_file"])
            self.contexts[protocol].set_alpn_protocols(["h2" if protocol == "provider" else protocol])

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))

    def processor(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def enrol(self, client, gate):
        async with gate:
            answer = await client.post("/v1/devices", json={"name": "bench", "platform": "linux"})
            secret = answer.raise_for_status().json()["device_secret"]
            answer = await client.put(f"/v1/apps/{TOPIC}", headers={"authorization": f"Bearer {secret}"})
            return self.form(self, secret), answer.raise_for_status().json()["device_token"]

    async def send(self, client, gate, token, fields):
        async with gate:
            answer = await client.post(f"/3/device/{token}", headers=fields, content=PAYLOAD)
            answer.raise_for_status()

    async def measure(self, connections, notifications):
        gate = asyncio.Semaphore(50)
        base = f"https://localhost:{self.port}"
        async with httpx.AsyncClient(http2=True, verify=self.contexts["provider"], base_url=base, timeout=60) as client:
            devices = await asyncio.gather(*(self.enrol(client, gate) for _ in range(connections)))
            await asyncio.sleep(1)
            before = self.memory()

            async def open_one(stream):
                async with gate:
                    await stream.open()
            await asyncio.gather(*(open_one(stream) for stream, _ in devices))
            await asyncio.sleep(2)
            kilobytes = (self.memory() - before) / connections
            tasks = [asyncio.create_task(stream.run()) for stream, _ in devices]
            fields = {"authorization": "bearer " + wire.provider_token(
                self.facts["key_file"], self.facts["key_id"], self.facts["team_id"]),
                "apns-topic": TOPIC, "apns-push-type": "alert"}
            # First, one notification for each device, which also opens the connection for HTTP/1.1 acknowledgements.
            tokens = [token for _, token in devices][:200]
            for count in [len(tokens), notifications]:
                goal, start, begin = self.received + count, self.processor(), time.monotonic()
                await asyncio.gather(*(
                    self.send(client, gate, tokens[number % len(tokens)], fields) for number in range(count)))
                while self.received < goal and time.monotonic() < begin + 120:
                    await asyncio.sleep(0.05)
                await asyncio.sleep(1)
                microseconds = (self.processor() - start) / count * 1e6
            lost = goal - self.received
            for task in tasks:
                task.cancel()
        self.process.terminate()
        self.process.wait()
        print(f"{self.form.__name__:10} {kilobytes:8.1f} KiB a connection {microseconds:8.1f} us a notification"
              f" {lost:4d} lost", flush=True)


connections, notifications = (int(text) for text in (sys.argv[1:] + ["1000", "10000"][len(sys.argv) - 1:]))
print(f"{connections} connections, {notifications} notifications, {os.cpu_count()} processors")
for form in [WebSocket, Events1, Events2]:
    asyncio.run(Bench(form).measure(connections, notifications))
