# SPDX-License-Identifier: Apache-2.0
"""Scenarios E to I: idle connections, handshakes, broadcasts, reconnects, growth."""
import contextlib
import time

from .measure import Generator, alternate, median, ratios, say, slab_kilobytes, watched
from .posthorn import TOPIC, Posthorn
from .servers import Floor, Nchan
from .throughput import asking, delivering, figures


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
    found = {}
    with Posthorn(shop) as ours:
        ours.prepare(counts[-1], broadcasts=True)
        stream = ours.stream()
    kinds = dict.fromkeys([stream, "posthorn-events", "posthorn-http2"])
    for count in counts:
        with Floor(shop) as floor:
            found["floor", count] = idle_memory(floor, [("protocol", "floor")], count)
        for kind in kinds:
            # A new process on the same files, so that no buffer remains from another count.
            ours.log = open(ours.directory / "log", "a")
            with ours:
                found[kind, count] = idle_memory(ours, [
                    ("protocol", kind), ("identities", ours.identities), *ours.headers(), *broadcast_options(ours)],
                    count, IDLE_SECONDS if count == counts[-1] and kind == stream else 0)
    for (kind, count), answer in found.items():
        say(f"  E. {kind} {count}: " + ", ".join(f"{name} {value:.2f}" for name, value in answer.items()))
    shop.keep("E", "idle memory", {f"{kind} {count}": [answer] for (kind, count), answer in found.items()})
    for count in counts:
        floor = found["floor", count]["rss_kb"]
        for kind in kinds:
            memory_rows(shop, kind, count, found[kind, count], floor)
    last = found[stream, counts[-1]]
    shop.row("I", f"idle CPU with {counts[-1]:,} devices, % of a core", last["idle_cpu_percent"], at_most=0.5)


def memory_rows(shop, kind, count, answer, floor):
    text = (f"{answer['rss_kb']:.1f} KB, floor {floor:.1f} KB, kernel {answer['slab_kb']:.1f} KB, "
            f"after a broadcast {answer['after_broadcast_kb']:.1f} KB")
    if kind == "posthorn-http2":
        shop.row("E", f"KB an HTTP/2 device, {count:,}", answer["rss_kb"], at_most=24, figures=text)
    else:
        shop.row("E", f"memory, {kind.removeprefix('posthorn-')}, {count:,} / floor", answer["rss_kb"] / floor,
                 at_most=1.1, figures=text)


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
             median(ratios(answers["posthornd full"], answers["floor full"], "cpu_us")), at_most=1.15,
             figures=figures(answers))
    shop.row("F", "CPU, resumed / full",
             median(ratios(answers["posthornd resumed"], answers["posthornd full"], "cpu_us")), at_most=0.66)


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
    last = ", ".join(f"{name} last after {median([a['seconds'] for a in runs]) * 1000:.0f} ms"
                     for name, runs in answers.items())
    shop.row("G", "CPU a delivery / floor", median(ratios(answers["posthornd"], answers["floor"], "cpu_us")),
             at_most=1.3, figures=figures(answers))
    shop.row("G", "time to the last / nchan", median(ratios(answers["posthornd"], answers["nchan"], "seconds")),
             at_most=0.8, figures=last)


def scenario_h(shop):
    """Measures the reconnect of all devices at once, each with 3 pending, while providers send to others."""
    devices = 15_000 if shop.full else 3000
    rate, seconds = 500, 60 if shop.full else 15
    with Posthorn(shop) as ours:
        ours.prepare(devices + 1000)
        stream = ours.stream()
        returning, others = ours.part("returning", 0, devices), ours.part("others", devices, devices + 1000)
        common = [("port", ours.port), *ours.headers()]
        with (
            Generator("load", [("protocol", stream), ("identities", returning), ("publishers", 4), *common]) as back,
            Generator("load", [("protocol", "http2"), ("identities", others), ("publishers", 4), *common]) as sender,
        ):
            back.ask(f"closed {3 * devices} 100")
            calm = sender.ask(f"open {rate} {rate * 10}")
            sender.start(f"open {rate} {rate * seconds}")
            drained = back.ask(f"drain {devices} 3 1000")
            busy = sender.read()
            ours.expect_nothing_dropped()
    shop.keep("H", f"{devices} devices, {rate}/s", {"calm": [calm], "busy": [busy], "devices": [drained]})
    shop.row("H", f"seconds until {devices:,} devices have their 3", drained["drain_seconds"], at_most=60,
             figures=f"all connected after {drained['connect_seconds']:.1f} s")
    shop.row("H", "providers' p99, busy / quiet", busy["accept"]["p99_us"] / calm["accept"]["p99_us"], at_most=5,
             figures=f"{busy['accept']['p99_us'] / 1000:.1f} ms, quiet {calm['accept']['p99_us'] / 1000:.1f} ms")


def scenario_i(shop):
    """Measures a large store: the CPU for each notification, and the startup."""
    devices, each = (1_000_000, 10) if shop.full else (50_000, 10)
    count = 20_000
    with Posthorn(shop) as small, Posthorn(shop) as large:
        small.prepare(1000)
        large.prepare(devices)
        # A generator needs some time to create the paths of a million requests, and again for each run.
        with load(small) as to_small, load(large) as to_large:
            say(f"  I. filling {devices * each:,} rows")
            to_large.ask(f"closed {devices * each} 250")
            answers = alternate(
                [("grown", asking(large, to_large, f"closed {count} 100", count)),
                 ("small", asking(small, to_small, f"closed {count} 100", count))], min(shop.repeats, 4), shop.retries)
        small.expect_nothing_dropped()
        large.expect_nothing_dropped()
        shop.keep("I", f"{devices} devices, {devices * each} rows", answers)
        shop.row("I", f"CPU at {devices:,} devices and {devices * each:,} rows / at 1,000",
                 median(ratios(answers["grown"], answers["small"], "cpu_us")), at_most=1.5, figures=figures(answers))
        large.stop()
        stored = sum(file.stat().st_size for file in (large.directory / "data").glob("posthorn.sqlite*")
                     if "reserve" not in file.name)
        shop.row("I", "bytes on disk a pending notification, devices included", stored / (devices * each))
        large.log = open(large.directory / "log", "a")
        start = time.monotonic()
        large.start()
        shop.row("I", "seconds from start to the first answer", time.monotonic() - start, at_most=3)
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
    shop.row("I", f"memory after {total:,} notifications / after {first:,}", after / before, at_most=1.1,
             figures=f"{after / 1024:.1f} MB, {before / 1024:.1f} MB")


def load(server):
    return Generator("load", [
        ("protocol", "http2"), ("port", server.port), ("publishers", 4), ("identities", server.identities),
        *server.headers()])
