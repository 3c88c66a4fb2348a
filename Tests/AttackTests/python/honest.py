# SPDX-License-Identifier: Apache-2.0
"""An honest provider and an honest device, in a process of their own so that an attack takes none of their CPU time.

Reads one JSON object from standard input and sends until a second line comes, then prints one JSON object. Times are
those of the system's monotonic clock, which is the same in every process.
"""
import json
import sys
import threading
import time

from server import Place
from wire import HTTP2, PATIENCE, WebSocket, masked, request

#: The seconds between two notifications of the open connection, and of connections made for one request each.
STEADY_PAUSE, FRESH_PAUSE = 0.05, 0.4


class Honest:
    def __init__(self, task):
        self.task, self.place = task, Place(task["port"], task["authority"])
        self.samples, self.arrived, self.device_ends = [], {}, []
        self.lock, self.number, self.is_over = threading.Lock(), 0, threading.Event()
        self.leaves = threading.Event()

    def run(self):
        device = threading.Thread(target=self.receive)
        device.start()
        self.wait_until(lambda: self.is_connected or self.device_ends, PATIENCE)
        kinds = [("steady", None, STEADY_PAUSE), ("near", None, FRESH_PAUSE), ("far", "127.0.0.2", FRESH_PAUSE)]
        senders = [threading.Thread(target=self.send, args=kind) for kind in kinds]
        for sender in senders:
            sender.start()
        print("ready", flush=True)
        sys.stdin.readline()
        self.is_over.set()
        for sender in senders:
            sender.join()
        accepted = {sample["number"] for sample in self.samples if sample["status"] == 200}
        self.wait_until(lambda: accepted <= self.arrived.keys(), PATIENCE)
        self.leaves.set()
        device.join()
        lost = sorted(accepted - self.arrived.keys())
        print(json.dumps({"samples": self.samples, "lost": lost, "delivered": len(accepted) - len(lost),
                          "arrived": len(self.arrived), "device_ends": self.device_ends}), flush=True)

    @staticmethod
    def wait_until(condition, seconds):
        deadline = time.monotonic() + seconds
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.02)

    # The device

    is_connected = False

    def receive(self):
        while not self.leaves.is_set():
            try:
                self.receive_once()
            except OSError as error:
                self.device_ends.append(f"{type(error).__name__}: {error}")
                time.sleep(0.5)

    def receive_once(self):
        with WebSocket(self.place, self.task["secret"]) as stream:
            if not stream.is_open:
                raise ConnectionError(f"the device's stream was answered with {stream.opened_status}")
            self.is_connected = True
            while not self.leaves.is_set() and not stream.is_closed:
                stream.pump(0.2)
                acknowledgements = [self.take(json.loads(stream.texts.popleft())) for _ in range(len(stream.texts))]
                acknowledgements = [one for one in acknowledgements if one]
                if acknowledgements:
                    stream.write(masked(1, json.dumps({"acks": acknowledgements}).encode()))
            if stream.is_closed and not self.leaves.is_set():
                raise ConnectionError(f"the device's stream ended, close code {stream.close_code}")

    def take(self, message):
        event = message.get("notification")
        if not event:
            return None
        if "n" in event["payload"]:
            self.arrived.setdefault(event["payload"]["n"], time.monotonic())
        return {"id": event["id"], "outcome": "shown"}

    # The provider

    def send(self, kind, source, pause):
        connection = None
        while not self.is_over.is_set():
            start = time.monotonic()
            with self.lock:
                self.number += 1
                number = self.number
            status, connection = self.push(number, connection if kind == "steady" else None, source)
            if kind != "steady" and connection:
                connection.close()
            end = time.monotonic()
            self.samples.append({"kind": kind, "number": number, "start": start, "end": end, "status": status})
            self.is_over.wait(max(0, pause - (end - start)))
        if connection:
            connection.close()

    def push(self, number, connection, source):
        """Returns the status or the text of an error, and the connection if it is still usable."""
        try:
            if connection and (connection.goaways or connection.is_closed):
                connection.close()
                connection = None
            connection = connection or HTTP2(self.place, source=source)
            fields = request("POST", f"/3/device/{self.task['token']}", extra=[
                ("authorization", f"bearer {self.task['provider_token']}"), ("apns-topic", self.task["topic"]),
                ("apns-push-type", "alert")])
            exchange = connection.ask(fields, json.dumps({"aps": {"alert": "honest"}, "n": number}).encode())
            if exchange.status == 200:
                return 200, connection
            found = exchange.status or f"no answer: {dict(connection.tally())}, reset {exchange.reset}"
            connection.close()
            return found, None
        except OSError as error:
            return f"{type(error).__name__}: {error}", None


if __name__ == "__main__":
    Honest(json.loads(sys.stdin.readline())).run()
