# SPDX-License-Identifier: Apache-2.0
"""Scenarios E to I: idle connections, handshakes, broadcasts, reconnects, growth."""
import contextlib
import time

from .measure import Generator, alternate, figures, ratios, say, slab_kilobytes, values, watched
from .posthorn import TOPIC, Posthorn
from .servers import Floor, Nchan
from .throughput import asking, delivering


# The duration of an idle measurement. The first heartbeat is sent after at least half of the 120 s. Then each device
# gets one heartbeat in every 120 s, so the duration covers at least one whole round.
IDLE_SECONDS = 240


def broadcast_options(ours):
    fields = [f"apns-channel-id: {ours.channel}", "apns-push-type: liveactivity", "apns-expiration: 0",
              f"authorization: bearer {ours.token}", "apns-priority: 10"]
    return [("broadcast-path", f"/4/broadcasts/apps/{TOPIC}"), *[("broadcast-header", field) for field in fields]]


def idle_memory(server, options, count, idle_seconds=0):
    """Measures the memory before and after `count` devices connect and after a broadcast, and the idle CPU."""
    with Generator("load", [("port", server.port), ("publishers", 1), *options]) as generator:
        time.sleep(0.5)
        before, slab = server.memory(), slab_kilobytes()
        generator.ask(f"connect {count}")
        time.sleep(2)
        idle, slab_idle = server.memory(), slab_kilobytes()
        generator.ask("broadcast")
        time.sleep(2)
        after = server.memory()
        found = {
            "before_mb": before["Rss"] / 1024,
            "rss_kb": (idle["Rss"] - before["Rss"]) / count, "pss_kb": (idle["Pss"] - before["Pss"]) / count,
            # Halved, because both ends of each connection are on this machine.
            "slab_kb": (slab_idle - slab) / count / 2, "after_broadcast_kb": (after["Rss"] - before["Rss"]) / count
        }
        if idle_seconds:
            spent = server.cpu()
            generator.ask(f"serve {idle_seconds}")
            found["idle_cpu_percent"] = (server.cpu() - spent) / idle_seconds * 100
        return found


def scenario_e(shop):
    """Measures the memory of each idle device connection."""
    counts = [1000, 10_000, 19_000] if shop.full else [1000, 10_000]
    with Posthorn(shop) as ours:
        ours.prepare(counts[-1], broadcasts=True)
        stream = ours.stream()
    kinds = list(dict.fromkeys([stream, "posthorn-events", "posthorn-http2"]))
    for count in counts:
        answers = {"floor": [], **{kind: [] for kind in kinds}}
        for number in range(shop.repeats):
            with Floor(shop) as floor:
                answers["floor"].append(idle_memory(floor, [("protocol", "floor")], count))
            for kind in kinds:
                is_last = count == counts[-1] and kind == stream and number == 0
                answers[kind].append(posthorn_memory(ours, kind, count, IDLE_SECONDS if is_last else 0))
        for name, runs in answers.items():
            say(f"  E. {name} {count}: " + ", ".join(f"{key} {value:.2f}" for key, value in runs[0].items()))
        shop.keep("E", f"idle memory, {count} devices", answers)
        for kind in kinds:
            memory_row(shop, kind, count, answers)
    idle = answers[stream][0]["idle_cpu_percent"]
    shop.row("I", f"idle CPU with {counts[-1]:,} devices, % of a core", idle, "I idle")


def posthorn_memory(ours, kind, count, idle_seconds):
    """Measures a new process on the same files, so that no buffer remains from another measurement."""
    ours.log = open(ours.directory / "log", "a")
    with ours:
        return idle_memory(ours, [
            ("protocol", kind), ("identities", ours.identities), *ours.headers(), *broadcast_options(ours)],
            count, idle_seconds)


def memory_row(shop, kind, count, answers):
    name = kind.removeprefix("posthorn-")
    found = figures(answers, [kind], "rss_kb", "slab_kb", "after_broadcast_kb") | figures(answers, ["floor"], "rss_kb")
    if kind == "posthorn-http2":
        shop.row("E", f"KB a device, {name}, {count:,} devices", values(answers[kind], "rss_kb"), "E HTTP/2", found)
    else:
        shop.row("E", f"memory a device / floor, {name}, {count:,} devices", ratios(answers, kind, "floor", "rss_kb"),
                 "E / floor", found)


def storming(server, options, count, is_resumed):
    """Returns a function for one storm with a new generator, which collects its tickets before the measurement."""
    def ask():
        options_all = [("port", server.port), ("count", count), *options, *([("resumed", "yes")] if is_resumed else [])]
        with Generator("storm", options_all) as generator:
            return watched(server, generator, "go", count)
    return ask


def scenario_f(shop):
    """Measures full and resumed handshakes, each with the device's hello and its welcome."""
    count = 10_000 if shop.full else 3000
    with Posthorn(shop) as ours, Floor(shop) as floor:
        ours.prepare(1000)
        to_ours = [("protocol", ours.stream()), ("identities", ours.identities)]
        to_floor = [("protocol", "floor")]
        answers = alternate(
            [("posthornd full", storming(ours, to_ours, count, False)),
             ("floor full", storming(floor, to_floor, count, False)),
             ("posthornd resumed", storming(ours, to_ours, count, True)),
             ("floor resumed", storming(floor, to_floor, count, True))], shop.repeats, shop.retries)
    shop.keep("F", f"{count} handshakes, 64 at a time", answers)
    shop.row("F", "CPU, full handshake and hello / floor",
             ratios(answers, "posthornd full", "floor full", "cpu_us"), "F / floor",
             figures(answers, ["posthornd full", "floor full"], "cpu_us"))
    for name, goal in (("posthornd", "F resumed / full"), ("floor", None)):
        shop.row("F", f"CPU, resumed / full, {name}", ratios(answers, f"{name} resumed", f"{name} full", "cpu_us"),
                 goal, figures(answers, [f"{name} resumed"], "cpu_us"))


def scenario_g(shop):
    """Measures one broadcast to 10,000 connected devices."""
    devices = 10_000
    with contextlib.ExitStack() as stack:
        ours, floor, nchan = (stack.enter_context(kind(shop)) for kind in (Posthorn, Floor, Nchan))
        ours.prepare(devices, broadcasts=True)
        kinds = [
            ("posthornd", ours, [("protocol", ours.stream()), ("identities", ours.identities), *ours.headers(),
                                 *broadcast_options(ours)]),
            ("floor", floor, [("protocol", "floor")]),
            ("nchan", nchan, [("protocol", "nchan"), ("channel", "all"), ("expect", "200,201,202"),
                              ("paths", shop.write("none", ["/pub/none"])), ("broadcast-path", "/pub/all")])]
        contestants = []
        for name, server, options in kinds:
            generator = stack.enter_context(
                Generator("load", [("port", server.port), ("publishers", 1), *options]))
            generator.ask(f"connect {devices}")
            generator.ask("broadcast")
            contestants.append((name, asking(server, generator, "broadcast", devices)))
        answers = alternate(contestants, max(shop.repeats, 5), shop.retries)
    shop.keep("G", f"one broadcast to {devices}", answers)
    shop.row("G", "CPU a delivery / floor", ratios(answers, "posthornd", "floor", "cpu_us"), "G / floor",
             figures(answers, ["posthornd", "floor"], "cpu_us"))
    shop.row("G", "time to the last / nchan", ratios(answers, "posthornd", "nchan", "seconds"), "G last / nchan",
             figures(answers, ["posthornd", "nchan"], "seconds"))


def scenario_h(shop):
    """Measures the reconnect of all devices at once, each with 3 pending, while providers send to others."""
    devices = 15_000 if shop.full else 3000
    with Posthorn(shop) as ours:
        ours.prepare(devices + 1000)
        stream = ours.stream()
        returning, others = ours.part("returning", 0, devices), ours.part("others", devices, devices + 1000)
        answers = {"calm": [], "busy": [], "devices": []}
        for _ in range(shop.repeats):
            for name, answer in zip(answers, reconnect(ours, stream, returning, others, devices, shop.full)):
                answers[name].append(answer)
        ours.expect_nothing_dropped()
    shop.keep("H", f"{devices} devices", answers)
    milliseconds = {name: [{"ms": answer["accept"]["p99_us"] / 1000} for answer in answers[name]]
                    for name in ("busy", "calm")}
    shop.row("H", f"seconds until {devices:,} devices have their 3", values(answers["devices"], "drain_seconds"),
             "H return", figures(answers, ["devices"], "connect_seconds"))
    shop.row("H", "providers' p99, busy / calm", ratios(milliseconds, "busy", "calm", "ms"), "H providers",
             figures(milliseconds, ["busy", "calm"], "ms"))


def reconnect(ours, stream, returning, others, devices, is_full):
    """Runs one round of H; returns the answers of the calm and of the busy providers, and of the devices."""
    rate, seconds = 500, 60 if is_full else 15
    common = [("port", ours.port), *ours.headers()]
    with (
        Generator("load", [("protocol", stream), ("identities", returning), ("publishers", 4), *common]) as back,
        Generator("load", [("protocol", "http2"), ("identities", others), ("publishers", 4), *common]) as sender,
    ):
        back.ask(f"closed {3 * devices} 100")
        back.run_when_idle()
        calm = sender.ask(f"open {rate} {rate * 10}")
        sender.start(f"open {rate} {rate * seconds}")
        drained = back.ask(f"drain {devices} 3 1000")
        return calm, sender.read(), drained


def scenario_i(shop):
    """Measures a large store: the CPU for each notification, and the startup."""
    devices, each = (1_000_000, 10) if shop.full else (50_000, 10)
    count = 20_000
    # The default bound would drop notifications of the 1,000 devices in the sixth round.
    bound = ["--pending-per-topic", 1000]
    with Posthorn(shop, bound) as small, Posthorn(shop, bound) as large:
        small.prepare(1000)
        large.prepare(devices)
        # A generator needs some time to create the paths of a million requests, and again for each run.
        with load(small) as to_small, load(large) as to_large:
            say(f"  I. filling {devices * each:,} rows")
            to_large.ask(f"closed {devices * each} 250")
            answers = alternate(
                [("grown", asking(large, to_large, f"closed {count} 100", count)),
                 ("small", asking(small, to_small, f"closed {count} 100", count))], shop.repeats, shop.retries)
        small.expect_nothing_dropped()
        large.expect_nothing_dropped()
        shop.keep("I", f"{devices} devices, {devices * each} rows", answers)
        shop.row("I", f"CPU at {devices:,} devices and {devices * each:,} rows / at 1,000 devices",
                 ratios(answers, "grown", "small", "cpu_us"), "I large / small",
                 figures(answers, ["grown", "small"], "cpu_us"))
        large.stop()
        stored = sum(file.stat().st_size for file in (large.directory / "data").glob("posthorn.sqlite*")
                     if "reserve" not in file.name)
        shop.row("I", "bytes on disk a pending notification, devices included", stored / (devices * each))
        large.log = open(large.directory / "log", "a")
        start = time.monotonic()
        large.start()
        shop.row("I", "seconds from start to the first answer", time.monotonic() - start, "I start")
    memory_in_time(shop)


def memory_in_time(shop):
    """Measures the resident memory after many notifications that were delivered and acknowledged."""
    first, total = 100_000, 10_000_000 if shop.full else 1_000_000
    with contextlib.ExitStack() as stack:
        ours = stack.enter_context(Posthorn(shop)).prepare(1000)
        generator = delivering(stack, ours, [
            ("protocol", ours.stream()), ("identities", ours.identities), *ours.headers()])
        generator.ask(f"closed {first} 25")
        before = ours.memory()["Rss"]
        generator.ask(f"closed {total - first} 25")
        after = ours.memory()["Rss"]
        ours.expect_all_acknowledged()
    shop.row("I", f"memory after {total:,} notifications / after {first:,}", after / before, "I memory",
             {"then": {"mb": [after / 1024]}, "before": {"mb": [before / 1024]}})


def load(server):
    return Generator("load", [
        ("protocol", "http2"), ("port", server.port), ("publishers", 4), ("identities", server.identities),
        *server.headers()])
