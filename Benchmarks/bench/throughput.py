# SPDX-License-Identifier: Apache-2.0
"""Scenarios A to D: requests, durable acceptance, delivery, latency."""
import contextlib
import json
import resource
import subprocess
import time

from .goals import GOALS
from .measure import HERE, SERVER_CORE, Generator, alternate, busy_seconds, figures, ratios, watched
from .posthorn import TOPIC, Posthorn
from .servers import NATS, NGHTTPD, Mosquitto, Nchan, Redis

NO_TRACE = ["--trace", "off"]


def asking(server, generator, question, count):
    return lambda: watched(server, generator, question, count)


def scenario_a(shop):
    """Measures requests that are validated and authenticated, but not stored."""
    paths = shop.write("foreign", shop.foreign_paths)
    topics = shop.write("channels", [f"/pub/d{number}" for number in range(1000)])
    count, question = 200_000, "closed 200000 100"
    with Posthorn(shop) as ours, NGHTTPD(shop) as nghttpd, Nchan(shop) as nchan:
        headers = ours.prepare().headers()
        common = [("protocol", "http2"), ("publishers", 16), *headers]
        with (
            Generator("load", [("port", ours.port), ("paths", paths), ("expect", "400"), *common]) as to_ours,
            Generator("load", [("port", nghttpd.port), ("paths", paths), *common]) as to_nghttpd,
            Generator("load", [("port", nchan.port), ("paths", topics), ("expect", "201,202"), *common]) as to_nchan,
        ):
            def unchecked():
                ours.admin("app", "set", TOPIC, "--checks", "off")
                answer = watched(ours, to_ours, question, count)
                ours.admin("app", "set", TOPIC, "--checks", "warn")
                return answer

            answers = alternate(
                [("posthornd", asking(ours, to_ours, question, count)), ("posthornd, checks off", unchecked),
                 ("nghttpd", asking(nghttpd, to_nghttpd, question, count)),
                 ("nchan", asking(nchan, to_nchan, question, count))], shop.repeats, shop.retries)
    shop.keep("A", question, answers)
    shop.row("A", "CPU a request / nghttpd", ratios(answers, "posthornd", "nghttpd", "cpu_us"), "A / nghttpd",
             figures(answers, ["posthornd", "nghttpd"], "rate", "cpu_us"))
    shop.row("A", "requests a second / nchan", ratios(answers, "posthornd", "nchan", "rate"),
             figures=figures(answers, ["nchan"], "rate", "cpu_us"))
    shop.row("A", "CPU a request with payload checks / without",
             ratios(answers, "posthornd", "posthornd, checks off", "cpu_us"),
             figures=figures(answers, ["posthornd, checks off"], "cpu_us"))


def sqlite_alone(shop, batch, rows):
    """Measures SQLite's own limit on this disk, at the current time."""
    path = shop.make_directory("sqlite") / "file"
    shop.disclose(f"taskset -c {SERVER_CORE} sqlite DIRECTORY/file {batch} {rows}")
    start, busy, own = time.monotonic(), busy_seconds(), children_seconds()
    done = subprocess.run(
        ["taskset", "-c", SERVER_CORE, HERE / ".build/sqlite", path, str(batch), str(rows)], capture_output=True,
        text=True, check=True)
    seconds, mine = time.monotonic() - start, children_seconds() - own
    return json.loads(done.stdout) | {"other_cores": max(0.0, (busy_seconds() - busy - mine) / seconds)}


def children_seconds():
    """Returns the CPU seconds of all ended child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def away(server):
    """Returns options for notifications to disconnected devices."""
    return [("protocol", "http2"), ("port", server.port), ("publishers", 4), ("identities", server.identities),
            *server.headers()]


def scenario_b(shop):
    """Measures accepted and durable notifications: devices disconnected, 400 outstanding."""
    count = 50_000
    with Posthorn(shop) as ours, Posthorn(shop, NO_TRACE) as untraced, Redis(shop) as redis, NATS(shop) as nats:
        # Enough devices that none approaches its bound of pending notifications.
        for server in (ours, untraced):
            server.prepare(10_000 if shop.repeats <= 9 else 20_000)
        with (
            Generator("load", away(ours)) as to_ours, Generator("load", away(untraced)) as to_untraced,
            Generator("load", [("protocol", "redis"), ("port", redis.port), ("publishers", 4)]) as to_redis,
            Generator("load", [("protocol", "nats"), ("port", nats.port), ("publishers", 4)]) as to_nats,
        ):
            answers = alternate(
                [("posthornd", asking(ours, to_ours, f"closed {count} 100", count)),
                 ("posthornd, trace off", asking(untraced, to_untraced, f"closed {count} 100", count)),
                 ("redis", asking(redis, to_redis, f"closed {count} 100", count)),
                 ("nats", asking(nats, to_nats, "closed 4000 100", 4000)),
                 ("sqlite 100", lambda: sqlite_alone(shop, 100, 50_000)),
                 ("sqlite 1000", lambda: sqlite_alone(shop, 1000, 50_000))], shop.repeats, shop.retries)
        for server in (ours, untraced):
            server.expect_nothing_dropped()
    shop.keep("B", f"closed {count}, 4 x 100 outstanding", answers)
    shop.row("B", "rate / redis, appendfsync always", ratios(answers, "posthornd", "redis", "rate"), "B / redis",
             figures(answers, ["posthornd", "redis"], "rate", "cpu_us"))
    shop.row("B", "rate / JetStream, sync always", ratios(answers, "posthornd", "nats", "rate"),
             figures=figures(answers, ["nats"], "rate", "cpu_us"))
    for batch, goal in ((100, "B / sqlite 100"), (1000, None)):
        shop.row("B", f"rate / SQLite in C, batches of {batch:,}",
                 ratios(answers, "posthornd", f"sqlite {batch}", "rate"), goal,
                 figures(answers, [f"sqlite {batch}"], "rate", "cpu_us"))
    # On a busy machine, these ratios are more reliable than the rates.
    for name, text, goal in (
            ("redis", "redis", None), ("sqlite 100", "SQLite in C, batches of 100", "B CPU / sqlite 100"),
            ("posthornd, trace off", "trace off", None)):
        shop.row("B", f"CPU a notification / {text}", ratios(answers, "posthornd", name, "cpu_us"), goal,
                 figures(answers, [name], "cpu_us"))


def delivering(stack, server, options, devices=1000):
    """Returns a generator with connected devices."""
    generator = stack.enter_context(Generator("load", [
        ("port", server.port), ("publishers", 16), ("topics", devices), ("delivered", "yes"), *options]))
    generator.ask(f"connect {devices}")
    return generator


def scenario_c(shop):
    """Measures from the provider to the device's acknowledgement, with 1,000 connected devices."""
    with contextlib.ExitStack() as stack:
        ours, mosquitto, redis = (stack.enter_context(kind(shop)) for kind in (Posthorn, Mosquitto, Redis))
        untraced = stack.enter_context(Posthorn(shop, NO_TRACE))
        to_ours, to_untraced = (
            delivering(stack, server.prepare(1000), [
                ("protocol", server.stream()), ("identities", server.identities), *server.headers()])
            for server in (ours, untraced))
        to_mosquitto = delivering(stack, mosquitto, [("protocol", "mosquitto")])
        to_redis = delivering(stack, redis, [("protocol", "redis")])
        for count, outstanding in ((50_000, 25), (10_000, 1)):
            question = f"closed {count} {outstanding}"
            answers = alternate(
                [("posthornd", asking(ours, to_ours, question, count)),
                 ("posthornd, trace off", asking(untraced, to_untraced, question, count)),
                 ("mosquitto", asking(mosquitto, to_mosquitto, question, count)),
                 ("redis", asking(redis, to_redis, question, count))], shop.repeats, shop.retries)
            shop.keep("C", f"{question}, 16 connections, {ours.stream_name}", answers)
            total = 16 * outstanding
            shop.row("C", f"CPU a notification / mosquitto QoS 1, {total} outstanding",
                     ratios(answers, "posthornd", "mosquitto", "cpu_us"), f"C / mosquitto, {total}",
                     figures(answers, ["posthornd", "mosquitto"], "rate", "cpu_us"))
            shop.row("C", f"CPU a notification / redis, {total} outstanding",
                     ratios(answers, "posthornd", "redis", "cpu_us"),
                     figures=figures(answers, ["redis"], "rate", "cpu_us"))
            shop.row("C", f"CPU a notification / trace off, {total} outstanding",
                     ratios(answers, "posthornd", "posthornd, trace off", "cpu_us"), "C trace",
                     figures(answers, ["posthornd, trace off"], "rate", "cpu_us"))
        for server in (ours, untraced):
            server.expect_all_acknowledged()


def scenario_d(shop):
    """Measures the latency at a fixed rate over 1,000 devices."""
    seconds = 10 if shop.full else 4
    with contextlib.ExitStack() as stack:
        ours, mosquitto, redis = (stack.enter_context(kind(shop)) for kind in (Posthorn, Mosquitto, Redis))
        ours.prepare(2000)
        stream = ours.stream()
        stored = delivering(stack, ours, [
            ("protocol", stream), ("identities", ours.part("stored", 0, 1000)), *ours.headers()])
        fleeting = delivering(stack, ours, [
            ("protocol", stream), ("identities", ours.part("fleeting", 1000, 2000)),
            *ours.headers("apns-expiration: 0")])
        to_mosquitto = delivering(stack, mosquitto, [("protocol", "mosquitto")])
        to_redis = delivering(stack, redis, [("protocol", "redis")])
        for rate in (200, 1000):
            question = f"open {rate} {rate * seconds}"
            count = rate * seconds
            answers = alternate(
                [("posthornd", asking(ours, stored, question, count)),
                 ("redis", asking(redis, to_redis, question, count)),
                 ("posthornd, not stored", asking(ours, fleeting, question, count)),
                 ("mosquitto", asking(mosquitto, to_mosquitto, question, count))], shop.repeats, shop.retries)
            shop.keep("D", question, answers)
            latency_rows(shop, rate, answers)
        ours.expect_all_acknowledged()


def latency_rows(shop, rate, answers):
    for share in ("p50", "p99"):
        milliseconds = {
            name: [{"ms": run["deliver"][f"{share}_us"] / 1000, "other_cores": run["other_cores"]} for run in runs]
            for name, runs in answers.items()}
        for ours, peer, text in (
                ("posthornd", "redis", "redis always"), ("posthornd", "mosquitto", "mosquitto QoS 1"),
                ("posthornd, not stored", "mosquitto", "mosquitto QoS 1")):
            suffix, goal = ours.removeprefix("posthornd"), f"D {share} / {peer}"
            shop.row("D", f"{share} at {rate:,}/s{suffix} / {text}", ratios(milliseconds, ours, peer, "ms"),
                     goal if goal in GOALS else None, figures(milliseconds, [ours, peer], "ms"))
