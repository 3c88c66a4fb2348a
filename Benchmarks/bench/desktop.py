# SPDX-License-Identifier: Apache-2.0
"""Scenario L: the latency from a provider to the call that shows an alert on the screen."""
import contextlib
import json
import os
import subprocess
import time

from .measure import HERE, Failure, Generator, busy_seconds, cpu_seconds
from .posthorn import PROGRAMS, TOPIC, Posthorn

DESKTOP = HERE / ".build/desktop"
# The agent shows at most five alerts a second to bound a flood of windows. At four a second, that limit delays none.
RATE = 4
WARM_UP = 20
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
"""


class Person:
    """A user's session: a session bus, a notification server that only records calls, and an agent with one app."""

    def __init__(self, server):
        self.server = server
        self.directory = server.workshop.make_directory("person")
        self.lines = self.directory / "notified"
        bus = self.directory / "bus"
        own = {"HOME": self.directory, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={bus}",
               "POSTHORN_AGENT_URL": f"https://localhost:{server.port}",
               "POSTHORN_AGENT_CA_FILE": server.directory / "data/authority.pem"}
        for variable in ("CONFIG", "STATE", "DATA", "CACHE"):
            own[f"XDG_{variable}_HOME"] = self.directory / variable.lower()
        own["XDG_RUNTIME_DIR"] = self.directory / "run"
        own["XDG_RUNTIME_DIR"].mkdir(mode=0o700)
        (self.directory / "bus.conf").write_text(BUS.format(path=bus))
        foreign = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_CURRENT_DESKTOP", "XDG_SESSION_ID", "PULSE_SERVER")
        self.environment = {name: value for name, value in os.environ.items() if name not in foreign}
        self.environment |= {name: str(value) for name, value in own.items()}
        self.processes = []

    def __enter__(self):
        try:
            self.launch("dbus-daemon", f"--config-file={self.directory}/bus.conf", "--nofork", "--nopidfile")
            self.wait_for("a session bus", lambda: (self.directory / "bus").exists())
            self.launch(DESKTOP, "serve", output=self.lines)
            self.wait_for("the notification server", self.lines.read_text)
            self.launch(PROGRAMS / "posthorn-agent")
            self.wait_for("a connection", self.is_connected)
            self.token = self.posthorn("register", TOPIC).strip()
            # Otherwise the time of a sound server would be measured as well.
            self.posthorn("settings", "set", TOPIC, "sound", "off")
            # More than a few banners of one app in ten seconds would be summed up.
            self.posthorn("settings", "set", TOPIC, "alert", "alert")
        except BaseException:
            self.__exit__()
            raise
        return self

    def launch(self, *command, output=None):
        with open(self.directory / "log", "a") as log, open(output or os.devnull, "w") as file:
            self.processes.append(subprocess.Popen(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=file, stderr=log))

    def wait_for(self, what, condition):
        deadline = time.monotonic() + 60
        while not condition():
            if time.monotonic() > deadline or any(process.poll() is not None for process in self.processes):
                raise Failure(f"no {what}: {(self.directory / 'log').read_text()[-600:]}")
            time.sleep(0.05)

    def run(self, *arguments):
        return subprocess.run(
            [PROGRAMS / "posthorn", *arguments], env=self.environment, capture_output=True, text=True)

    def posthorn(self, *arguments):
        done = self.run(*arguments)
        if done.returncode != 0:
            raise Failure(f"posthorn {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def is_connected(self):
        done = self.run("agent", "status", "--json")
        return done.returncode == 0 and json.loads(done.stdout)["connected"]

    def notified(self):
        """Returns the time and body of each alert that the notification server received, in order."""
        lines = [line.split(" ", 1) for line in self.lines.read_text().splitlines()[1:]]
        return [(int(moment), body) for moment, body in lines if body != "bare"]

    def pids(self):
        return [process.pid for process in self.processes]

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()


def share(values, part):
    """Returns the value that the given share of the values does not exceed."""
    return sorted(values)[max(0, round(len(values) * part + 0.5) - 1)]


def alternating(server, person, generator, count):
    """Sends notifications and makes bare calls in turn, each at RATE a second.

    Returns {what: [milliseconds, …]}, and the number of cores that other processes used.
    """
    pids = [*person.pids(), *server.pids(), generator.process.pid]
    seen, busy, own, start = len(person.notified()), busy_seconds(), cpu_seconds(pids), time.monotonic()
    generator.start(f"singly {RATE} {count}")
    # The bare calls fall halfway between two notifications.
    time.sleep(0.5 / RATE)
    bare = subprocess.run(
        [DESKTOP, "ask", str(count), str(RATE)], env=person.environment, capture_output=True, text=True, check=True)
    accepted = generator.read()["accepted_ns"]
    person.wait_for("alert for each", lambda: len(person.notified()) >= seen + count)
    others = max(0.0, (busy_seconds() - busy - cpu_seconds(pids) + own) / (time.monotonic() - start))
    found = {"accepted": [], "sent": [], "bare": [int(line) / 1e6 for line in bare.stdout.split()]}
    for number, (moment, body) in enumerate(person.notified()[seen:]):
        stamp = body.removeprefix("At table ").rstrip(".").split()
        if int(stamp[1]) != number:
            raise Failure(f"alert {number} says {body}: they must come once and in their order")
        found["accepted"].append((moment - accepted[number]) / 1e6)
        found["sent"].append((moment - int(stamp[2])) / 1e6)
    return found, others


def scenario_l(shop):
    """Measures from the provider's 200 to the desktop's Notify: one device, one notification after the other."""
    count = 2000 if shop.full else 500
    with contextlib.ExitStack() as stack:
        ours = stack.enter_context(Posthorn(shop)).prepare()
        person = stack.enter_context(Person(ours))
        paths = shop.write("token", [f"/3/device/{person.token}"])
        generator = stack.enter_context(Generator("load", [
            ("protocol", "http2"), ("port", ours.port), ("publishers", 1), ("paths", paths), *ours.headers()]))
        alternating(ours, person, generator, WARM_UP)
        found, others = alternating(ours, person, generator, count)
        ours.expect_all_acknowledged()
    shop.keep("L", f"{count} alerts, {RATE} a second, ms", {"posthorn": [found | {"other_cores": others}]})
    for name, part in (("p50", 0.5), ("p99", 0.99)):
        bare = share(found["bare"], part)
        for what, text in (("accepted", "the 200"), ("sent", "sending")):
            value = share(found[what], part)
            shop.row("L", f"{name} from {text} to Notify / a bare Notify and its answer", value / bare,
                     figures={"Posthorn": {"ms": [value]}, "bare": {"ms": [bare]}})
