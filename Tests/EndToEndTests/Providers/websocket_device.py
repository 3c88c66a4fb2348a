# SPDX-License-Identifier: Apache-2.0
"""A device that uses WebSocket, through the package `websockets` or byte by byte to break the protocol's rules.
"""
import asyncio
import base64
import os
import socket
import ssl
import struct

import websockets

import wire


class Device:
    def __init__(self):
        self.reader = self.writer = self.library = None

    def context(self, ca_file):
        context = ssl.create_default_context(cafile=ca_file)
        context.set_alpn_protocols(["http/1.1"])
        return context

    async def connect(self, host, port, ca_file, secret, fields=(), leave_out=(), start="GET /v1/stream HTTP/1.1",
                      room=None, body="", **_):
        """Sends a handshake with changed fields, and returns status, fields and body."""
        plain = socket.socket()
        if room:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        plain.setblocking(False)
        await asyncio.get_running_loop().sock_connect(plain, (host, port))
        self.reader, self.writer = await asyncio.open_connection(
            sock=plain, ssl=self.context(ca_file), server_hostname=host)
        all_fields = {
            "Host": f"{host}:{port}", "Upgrade": "websocket", "Connection": "keep-alive, Upgrade",
            "Sec-WebSocket-Version": "13", "Sec-WebSocket-Protocol": "other, posthorn.v1",
            "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(), "Authorization": f"Bearer {secret}"}
        lines = [start] + [f"{name}: {value}" for name, value in all_fields.items() if name not in leave_out]
        lines += [f"{name}: {value}" for name, value in fields]
        self.writer.write(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
        head = ["HTTP/1.1 100"]
        while head[0].startswith("HTTP/1.1 100"):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        body = await self.reader.readexactly(int(fields.get("content-length", 0)))
        return {"status": int(head[0].split()[1]), "fields": fields, "body": body.decode()}

    async def send(self, hexadecimal, **_):
        """Sends bytes unchanged."""
        self.writer.write(bytes.fromhex(hexadecimal))
        await self.writer.drain()
        return {}

    async def frame(self, opcode, text, final=True, masked=True, pieces=1, **_):
        """Sends one frame, split into this number of TLS records."""
        data, mask = text.encode(), os.urandom(4)
        head = bytes([(0x80 if final else 0) | opcode])
        flag = 0x80 if masked else 0
        length = len(data)
        head += bytes([flag | length]) if length < 126 else struct.pack(
            ">BH" if length < 65536 else ">BQ", flag | (126 if length < 65536 else 127), length)
        if masked:
            head, data = head + mask, bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))
        whole = head + data
        size = -(-len(whole) // pieces)
        for place in range(0, len(whole), size):
            self.writer.write(whole[place:place + size])
            await self.writer.drain()
            if pieces > 1:
                await asyncio.sleep(0.01)
        return {}

    async def next(self, **_):
        """Returns the next frame of the server, or the end."""
        try:
            first, second = await self.reader.readexactly(2)
            length = second & 127
            if length > 125:
                length = int.from_bytes(await self.reader.readexactly(2 if length == 126 else 8), "big")
            data = await self.reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            return {"opcode": -1, "text": "", "code": 0}
        opcode = first & 15
        code = int.from_bytes(data[:2], "big") if opcode == 8 and data else 0
        text = (data[2:] if code else data).decode(errors="replace")
        return {"opcode": opcode, "text": text, "code": code, "masked": bool(second & 128)}

    async def stop_reading(self, **_):
        """Stops reading from the socket."""
        self.writer.transport.pause_reading()
        return {}

    async def leave(self, opcode, text, **_):
        """Sends one last frame and the end of the connection in one segment, and waits for the server's end."""
        self.writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        await self.frame(opcode, text)
        self.writer.close()
        await self.writer.wait_closed()
        return {}

    async def close(self, **_):
        """Closes the connection without a close frame."""
        if self.library:
            await self.library.close()
        if self.writer:
            self.writer.transport.abort()
        return {}

    async def use_library(self, host, port, ca_file, secret, **_):
        """Connects with `websockets`."""
        self.library = await websockets.connect(
            f"wss://{host}:{port}/v1/stream", ssl=self.context(ca_file), subprotocols=["posthorn.v1"],
            additional_headers={"authorization": f"Bearer {secret}"}, ping_interval=None)
        return {"subprotocol": self.library.subprotocol or ""}

    async def receive(self, **_):
        """Returns the next message, or how the connection was closed."""
        try:
            return {"opcode": 1, "text": await self.library.recv(), "code": 0}
        except websockets.ConnectionClosed as closed:
            return {"opcode": 8, "text": closed.rcvd.reason if closed.rcvd else "", "code": closed.rcvd.code if closed.rcvd else 0}

    async def say(self, text, **_):
        """Sends a message, and waits until a ping after it is answered."""
        await self.library.send(text)
        await (await self.library.ping())
        return {}


device = Device()
asyncio.run(wire.serve({
    "connect": device.connect, "send": device.send, "frame": device.frame, "next": device.next, "close": device.close,
    "stop_reading": device.stop_reading, "leave": device.leave,
    "use_library": device.use_library, "receive": device.receive, "say": device.say}))
