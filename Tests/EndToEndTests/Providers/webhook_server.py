# SPDX-License-Identifier: Apache-2.0
"""A back-end that hears what became of its notifications: an HTTPS server that checks each signature.

Operations: start (certificate, key, secret) -> port; behave (answers): how it answers the next requests, one word each:
a status, "redirect", "hang" (no answer for a minute) or "cut" (no answer at all), later ones with 204; received -> what
was taken, and what was refused, in order.
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

STATE = {"answers": [], "taken": [], "refused_count": 0, "bad": []}
LOCK = threading.Lock()


def is_genuine(*arguments):
    """The check of docs/how-to/webhooks.md, as it stands there."""
    page = pathlib.Path(__file__).parents[3] / "docs/how-to/webhooks.md"
    names = {}
    exec(re.search(r"```python\n(.+?)```", page.read_text(), re.DOTALL)[1], names)
    return names["is_genuine"](*arguments)


def problem(headers, body, secret):
    """What is wrong with a request; None when a back-end may believe it."""
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
        body = self.rfile.read(int(self.headers["content-length"]))
        with LOCK:
            if wrong := problem(self.headers, body, self.server.secret):
                STATE["bad"].append(wrong)
            if self.path != "/events":
                STATE["bad"].append(self.path)
            answer = STATE["answers"].pop(0) if STATE["answers"] else "204"
            if answer.startswith("2"):
                STATE["taken"].append(json.loads(body))
            else:
                STATE["refused_count"] += 1
        if answer == "hang":
            time.sleep(60)
        if answer in ("hang", "cut"):
            self.close_connection = True
            return
        self.send_response(302 if answer == "redirect" else int(answer))
        if answer == "redirect":
            self.send_header("location", "/elsewhere")
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
        return {"events": events, "refused_count": STATE["refused_count"], "bad": STATE["bad"]}


asyncio.run(wire.serve({"start": start, "behave": behave, "received": received}))
