# SPDX-License-Identifier: Apache-2.0
"""A back-end that receives the outcomes of its notifications: an HTTPS server that checks each signature.

Operations:
start (certificate, key, secret): returns the port.
behave (answers): sets the answers to the next requests, one word each. A word is a status, a status with a colon and
the redirect's target, "redirect" (302 to another path), "hang" (no answer for a minute) or "cut" (no answer at all).
Later requests get 204.
received: returns the accepted and the refused events, in order, and the number of all requests.
"""
import asyncio
import http.server
import json
import pathlib
import re
import ssl
import threading
import time

import wire

STATE = {"answers": [], "taken": [], "asked_count": 0, "refused_count": 0, "bad": []}
LOCK = threading.Lock()


def is_genuine(*arguments):
    """The check of docs/how-to/webhooks.md, exactly as printed there."""
    page = pathlib.Path(__file__).parents[3] / "docs/how-to/webhooks.md"
    names = {}
    exec(re.search(r"```python\n(.+?)```", page.read_text(), re.DOTALL)[1], names)
    return names["is_genuine"](*arguments)


def problem(headers, body, secret):
    """Returns the problem of a request, or None when a back-end may trust it."""
    signature = headers.get("posthorn-signature")
    if not is_genuine(secret, signature, body):
        return "not genuine"
    if any(
        is_genuine(*wrong)
        for wrong in [
            (secret + "x", signature, body), (secret, signature, body + b" "), (secret, None, body),
            (secret, signature.replace("t=1", "t=2"), body), (secret, signature, body, -1),
        ]
    ):
        return "anything is genuine"
    if headers.get("content-type") != "application/json":
        return "wrong content type"
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        with LOCK:
            STATE["asked_count"] += 1
        # A client that follows a redirect uses GET, and sends no length.
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        with LOCK:
            wrong = problem(self.headers, body, self.server.secret)
            if wrong:
                STATE["bad"].append(wrong)
            if (self.command, self.path) != ("POST", "/events"):
                STATE["bad"].append(f"{self.command} {self.path}")
            answer = STATE["answers"].pop(0) if STATE["answers"] else "204"
            if answer.startswith("2"):
                STATE["taken"].append(json.loads(body) if not wrong else [])
            else:
                STATE["refused_count"] += 1
        if answer == "hang":
            time.sleep(60)
        if answer in ("hang", "cut"):
            self.close_connection = True
            return
        status, _, location = ("302:/elsewhere" if answer == "redirect" else answer).partition(":")
        self.send_response(int(status))
        if location:
            self.send_header("location", location)
        self.send_header("content-length", "0")
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *_):
        pass


async def start(certificate, key, secret, **_):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.secret = secret
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return {"port": server.server_port}


async def behave(answers, **_):
    with LOCK:
        STATE["answers"] = list(answers)
    return {}


async def received(**_):
    with LOCK:
        events = [event for batch in STATE["taken"] for event in batch]
        return {"events": events, "asked_count": STATE["asked_count"], "refused_count": STATE["refused_count"],
                "bad": STATE["bad"]}


asyncio.run(wire.serve({"start": start, "behave": behave, "received": received}))
