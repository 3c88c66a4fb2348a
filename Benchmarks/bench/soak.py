# SPDX-License-Identifier: Apache-2.0
"""Runs posthornd under mixed load for hours: memory must stay flat, latency low, and the books must balance."""
import datetime
import json
import math
import os
import pathlib
import subprocess
import sys
import time

from . import report
from .measure import HERE, Failure, Generator, say
from .posthorn import TOPIC, Posthorn
from .workshop import Workshop

MILESTONES = [100_000, 1_000_000, 10_000_000]
RATIO_MAX = 1.10
# The store's page cache is full after fewer notifications.
BASE = 1_000_000
# A connection that is just being opened or closed may be counted at one end only.
DESCRIPTOR_GROWTH_MAX = 100
# The latency bound applies only if the disk is fast: its own p99 is below this.
DISK_P99_MS_MAX = 2.0
DISK_WRITES = 1000
TOKEN_SECONDS = 1200
# A server removes expired notifications every 30 seconds.
DRAIN_SECONDS = 180
ENDS = ["acknowledged", "collapsed", "expired", "dropped", "unregistered"]
COLUMNS = [
    ("Seconds", "seconds", "{:,.0f}"), ("Accepted", "accepted", "{:,}"), ("Delivered", "delivered", "{:,}"),
    ("RSS MB", "rss_mb", "{:.1f}"), ("Heap MB", "anonymous_mb", "{:.1f}"), ("Descriptors", "descriptors", "{}"),
    ("Devices", "devices", "{}"), ("Threads", "threads", "{}"), ("Store MB", "store_mb", "{:.1f}"),
    ("Log MB", "log_mb", "{:.1f}"), ("CPU %", "cpu_percent", "{:.1f}"), ("Pending", "pending", "{:,}"),
    ("Accept p99 ms", "accept_p99_ms", "{:.2f}"), ("Deliver p99 ms", "deliver_p99_ms", "{:.2f}")]


def milliseconds(latencies):
    return (latencies["p99_us"] or 0) / 1000


def disk_p99_ms(folder):
    """Returns the p99 of appending 4 KiB to a file and synchronizing it (fdatasync)."""
    path, times = folder / "probe", []
    with open(path, "wb", buffering=0) as file:
        for _ in range(DISK_WRITES):
            start = time.monotonic()
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            times.append((time.monotonic() - start) * 1000)
    path.unlink()
    return sorted(times)[DISK_WRITES * 99 // 100]


class Soak:
    """One run of the soak."""

    def __init__(self, server, generator, device_count, seconds, base, p99_ms_max):
        self.server, self.generator, self.seconds, self.base = server, generator, seconds, base
        # The number of devices that are always connected; see SoakHabit.
        self.steady_count = sum(number % 20 < 12 for number in range(device_count))
        self.p99_ms_max = p99_ms_max
        # The p99 of the disk before and after the load.
        self.disk_p99_ms = []
        # The period is shorter in short runs, so that they have samples, too.
        self.period = min(60, max(5, seconds / 4))
        self.samples, self.problems = [], []
        self.start = self.last_cpu = self.last_sample = 0

    def run(self):
        """Takes a sample after each period, until the time is over."""
        self.generator.ask(f"token {self.server.token}")
        self.wait_for_devices()
        self.generator.ask("start")
        self.start = self.last_sample = time.monotonic()
        self.last_cpu = self.server.cpu()
        renewed = self.start
        for number in range(1, round(self.seconds / self.period) + 1):
            time.sleep(max(0, self.start + number * self.period - time.monotonic()))
            if time.monotonic() - renewed > TOKEN_SECONDS:
                renewed = time.monotonic()
                self.generator.ask(f"token {self.server.make_token()}")
            self.sample()

    def wait_for_devices(self):
        deadline = time.monotonic() + 60
        while self.generator.ask("counts")["devices"] < self.steady_count:
            if time.monotonic() > deadline:
                raise Failure("devices do not connect")
            time.sleep(1)

    def sample(self):
        """Records the current figures of the kernel, the server and the generator."""
        if self.server.process.poll() is not None:
            raise Failure(f"posthornd ended with {self.server.process.returncode}")
        now, cpu = time.monotonic(), self.server.cpu()
        counts, answer = self.counts(), self.generator.ask("counts")
        sample = {
            "seconds": now - self.start, **self.kernel(),
            "cpu_percent": (cpu - self.last_cpu) / (now - self.last_sample) * 100,
            **{name: answer[name] for name in ("accepted", "refused", "delivered", "delivered_again", "broadcasts",
                                               "broadcast_deliveries", "devices", "device_connections",
                                               "provider_connections", "problem_count")},
            "accept_p99_ms": milliseconds(answer["accept"]), "deliver_p99_ms": milliseconds(answer["deliver"]),
            "pending": counts["pending"], "counts": counts}
        self.last_cpu, self.last_sample = cpu, now
        self.samples.append(sample)
        say("  " + ", ".join(f"{title} {form.format(sample[name])}" for title, name, form in COLUMNS)
            + (f", PROBLEMS {answer['problem_count']}" if answer["problem_count"] else ""))

    def kernel(self):
        process = pathlib.Path(f"/proc/{self.server.process.pid}")
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        sizes = {path.name: path.stat().st_size for path in (self.server.directory / "data").iterdir()
                 if path.is_file()}
        log = sum(size for name, size in sizes.items() if name.endswith("-wal"))
        return {
            "rss_mb": int(status["VmRSS"].split()[0]) / 1024, "anonymous_mb": int(status["RssAnon"].split()[0]) / 1024,
            "threads": int(status["Threads"]), "descriptors": len(os.listdir(process / "fd")),
            "store_mb": (sum(sizes.values()) - log) / 1e6, "log_mb": log / 1e6}

    def counts(self):
        return json.loads(self.server.admin("status", "--json"))["counts"]

    # The books

    def settle(self):
        """Drains all pending notifications; returns the counts of both sides, and the generator's balance."""
        answer = self.generator.ask("drain")
        # The broadcast that its channel keeps is pending until it expires.
        kept = min(answer["broadcasts"], 1)
        deadline = time.monotonic() + DRAIN_SECONDS
        while self.counts()["pending"] > kept or self.generator.ask("counts")["outstanding"] > 0:
            if time.monotonic() > deadline:
                self.problems.append(f"{self.counts()['pending']} still wait after {DRAIN_SECONDS} s")
                break
            time.sleep(1)
        time.sleep(1)
        return self.counts(), self.generator.ask("counts"), self.generator.ask("balance")

    def balance(self):
        """Compares the counts of the server with those of providers and devices."""
        ours, theirs, missing = self.settle()
        self.problems += missing["problems"]
        broadcasts = theirs["broadcasts"]
        ends = sum(ours[name] for name in ENDS)
        self.expect("accepted", ours["accepted"], theirs["accepted"] + broadcasts)
        self.expect("ends and pending", ends + ours["pending"], ours["accepted"])
        self.expect("pending", ours["pending"], min(broadcasts, 1))
        # A received notification may have another end if its stream ended before its acknowledgement was read.
        replaced = missing["replaced"] + max(broadcasts - 1, 0)
        came = {"collapsed": ours["collapsed"] - replaced, "expired": ours["expired"] - missing["expired"],
                "dropped": ours["dropped"] - missing["dropped"]}
        for name, count in came.items():
            if count < 0:
                self.problems.append(f"{-count} did not come that should have, and are not counted as {name}")
        self.expect("delivered", theirs["delivered"], ours["acknowledged"] + sum(came.values()))
        self.problems += [line for line in (self.server.directory / "log").read_text().splitlines()
                          if "level=error" in line][:20]
        return {"server": ours, "generator": theirs, "missing": missing, "came_and_ended_otherwise": came}

    def expect(self, what, found, wanted):
        if found != wanted:
            self.problems.append(f"{what}: {found:,} instead of {wanted:,}")

    # The verdict

    def after(self, count):
        """Returns the first sample with at least `count` accepted."""
        return next((sample for sample in self.samples if sample["accepted"] >= count), None)

    def latency_verdict(self):
        """Returns whether the p99 of each minute was low enough, as text and as a Boolean."""
        worst = {what: max(sample[f"{what}_p99_ms"] for sample in self.samples) for what in ("accept", "deliver")}
        shown = ", ".join(f"{what} {value:.1f} ms" for what, value in worst.items())
        disk = max(self.disk_p99_ms, default=math.inf)
        text = f"highest p99 of a minute: {shown}, at most {self.p99_ms_max:g} ms; fdatasync p99 {disk:.2f} ms"
        if disk >= DISK_P99_MS_MAX:
            return f"{text}: latency NOT JUDGED, because the disk is slower than {DISK_P99_MS_MAX:g} ms", True
        is_good = max(worst.values()) <= self.p99_ms_max
        return f"{text}: {'good' if is_good else 'TOO SLOW'}", is_good

    def verdict(self):
        first, last = self.after(self.base), self.samples[-1]
        books = "the books balance" if not self.problems else f"{len(self.problems)} PROBLEMS"
        latency, is_fast = self.latency_verdict()
        if first is None or first is last:
            return (f"soak: {last['accepted']:,} notifications are too few to measure growth after {self.base:,} "
                    f"(raise SOAK_SECONDS or lower SOAK_BASE); {latency}; {books}"), False
        ratio = last["rss_mb"] / first["rss_mb"]
        spare = [sample["descriptors"] - sample["devices"] for sample in (first, last)]
        is_flat = ratio <= RATIO_MAX and spare[1] - spare[0] <= DESCRIPTOR_GROWTH_MAX
        text = (
            f"soak: {last['accepted']:,} notifications in {datetime.timedelta(seconds=round(last['seconds']))}, RSS "
            f"{first['rss_mb']:.1f} MB after {first['accepted']:,} and {last['rss_mb']:.1f} MB at the end (ratio "
            f"{ratio:.3f}), descriptors {first['descriptors']} and {last['descriptors']} with {first['devices']} and "
            f"{last['devices']} devices: {'flat' if is_flat else 'GROWING'}; {latency}; {books}")
        return text, is_flat and is_fast and not self.problems


def table(samples):
    """Returns a table of ten samples spread over the run, including the last one."""
    chosen = samples[::-1][::max(1, len(samples) // 10)][::-1]
    lines = ["| " + " | ".join(title for title, _, _ in COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    lines += ["| " + " | ".join(form.format(sample[name]) for _, name, form in COLUMNS) + " |" for sample in chosen]
    return "\n".join(lines)


def write(soak, measured, books, text, rate):
    """Writes the samples and the table."""
    date = datetime.date.today().isoformat()
    command = (f"SOAK_SECONDS={soak.seconds} SOAK_RATE={rate} SOAK_BASE={soak.base} "
               f"SOAK_P99_MS_MAX={soak.p99_ms_max:g} Benchmarks/soak.sh")
    facts = {"date": date, "commit": measured, "machine": report.machine(), "command": command, "verdict": text,
             "disk_p99_ms": soak.disk_p99_ms, "problems": soak.problems, "books": books, "samples": soak.samples}
    folder = pathlib.Path(os.environ.get("BENCH_RESULTS", HERE / "Results"))
    folder.mkdir(exist_ok=True)
    path = folder / f"{date}-{measured}-soak.md"
    path.with_suffix(".json").write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
    reached = [(count, soak.after(count)) for count in MILESTONES]
    milestones = "".join(f"- RSS after {count:,} notifications: {sample['rss_mb']:.1f} MB, of it heap "
                         f"{sample['anonymous_mb']:.1f} MB\n" for count, sample in reached if sample)
    path.write_text(
        f"# Soak of {date}, commit {measured}\n\n{text}\n\n- Machine: {facts['machine']}\n- Command: `{command}`\n"
        f"{milestones}\n{table(soak.samples)}\n" + (story(books) if books else "")
        + "".join(f"\n- PROBLEM: {problem}" for problem in soak.problems) + ("\n" if soak.problems else ""))
    return path


def story(books):
    """Returns the books as text."""
    ours, theirs, came = books["server"], books["generator"], books["came_and_ended_otherwise"]
    ends = ", ".join(f"{ours[name]:,} {name}" for name in [*ENDS, "pending"])
    return (
        f"\nAccepted {ours['accepted']:,}: {ends}. Devices got {theirs['delivered']:,}; {theirs['delivered_again']:,} "
        f"times one came again on a later stream. {sum(came.values()):,} came and ended otherwise, since their stream "
        f"ended before the acknowledgement. {theirs['refused']:,} were refused as they should.\n")


def perform(server, seconds, rate, base, p99_ms_max):
    """Runs the load, then checks the books; records a failure as a problem and keeps the samples so far."""
    device_count = max(100, rate // 2)
    server.prepare(device_count, broadcasts=True, policy="last")
    options = [("port", server.port), ("topic", TOPIC), ("identities", server.identities), ("rate", rate),
               ("seconds", seconds), ("channel", server.channel)]
    soak, books = Soak(server, None, device_count, seconds, base, p99_ms_max), None
    try:
        soak.disk_p99_ms.append(disk_p99_ms(server.directory))
        with Generator("soak", options) as soak.generator:
            soak.run()
            books = soak.balance()
        soak.disk_p99_ms.append(disk_p99_ms(server.directory))
    except (Failure, OSError) as failure:
        if not soak.samples:
            raise
        soak.problems.append(f"{failure}")
    return soak, books


def main():
    seconds, rate = int(os.environ.get("SOAK_SECONDS", "7200")), int(os.environ.get("SOAK_RATE", "2000"))
    base = int(os.environ.get("SOAK_BASE", BASE))
    p99_ms_max = float(os.environ.get("SOAK_P99_MS_MAX", "25"))
    shop, measured = Workshop(), report.commit()
    try:
        with Posthorn(shop, ["--durability", "full"]) as server:
            soak, books = perform(server, seconds, rate, base, p99_ms_max)
        if server.process.returncode != 0:
            soak.problems.append(f"posthornd ended with {server.process.returncode}")
        check = subprocess.run(
            [server.program, "--data-directory", server.directory / "data", "--check"], capture_output=True, text=True)
        if check.returncode != 0:
            soak.problems.append(f"--check: {check.stdout} {check.stderr}")
    finally:
        shop.close()
    text, is_good = soak.verdict()
    path = write(soak, measured, books, text, rate)
    for problem in soak.problems:
        say(f"  PROBLEM: {problem}")
    say(f"written to {path}")
    print(text)
    return 0 if is_good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        say(f"soak: FAILED: {failure}")
        sys.exit(1)
