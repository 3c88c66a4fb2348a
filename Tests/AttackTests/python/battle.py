# SPDX-License-Identifier: Apache-2.0
"""Runs one attack beside honest traffic, and measures the effects on the server and on the honest traffic."""
import contextlib
import json
import os
import subprocess
import sys
import threading
import time

from server import PATIENCE, Refused, Site

#: The MiB by which the server may grow under an attack, and by which it may exceed its base a minute later.
GROWTH_MAX, REMAINDER_MAX = 64, 16
#: The seconds after an attack until memory and descriptors must be back.
RECOVERY_SECONDS = 60
#: A sanitizer keeps memory that was freed, so a server that is built with one is not measured.
MEASURES_MEMORY = not os.environ.get("POSTHORN_TEST_SANITIZER")
#: The descriptors that a server may keep for a while: honest connections, files of the database.
DESCRIPTOR_REMAINDER_MAX = 8
HERE = os.path.dirname(os.path.abspath(__file__))


def percentile(values, share):
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1) if ordered else None


class Battle:
    """A server with an honest provider and device, and one attack. `problems` is the result."""

    def __init__(self, attack, is_long):
        self.attack, self.is_long = attack, is_long
        self.problems, self.notes, self.figures = [], {}, {}
        self.begun = self.ended = None
        #: The times when an attack held all its resources, and when it released them.
        self.held = None
        self.honest, self.honest_is_over = None, False
        self.cleanup = contextlib.ExitStack()

    def choose(self, short, long):
        """Returns the size for `make test`, or the one for `make soak` and `make attack`."""
        return long if self.is_long else short

    def note(self, **figures):
        self.notes |= figures

    def problem(self, text):
        self.problems.append(text)

    def expect(self, condition, text):
        if not condition:
            self.problem(text)

    def refusals(self, tally, *wanted, allowed=0):
        """Checks that the server refused in a documented way at least once, if more answers came than a rate allows."""
        self.note(answers=dict(tally))
        if sum(tally.values()) <= allowed:
            # The machine was too slow for the attacker to use up the burst.
            return
        if not any(word in name for name in tally for word in wanted):
            self.problem(f"nothing was refused with {' or '.join(wanted)}: {dict(tally)}")

    # The run

    def run(self):
        with self.cleanup:
            wrapper = self.attack.wrapper
            self.site = self.cleanup.enter_context(
                Site(*self.attack.options, wrapper=wrapper, reads_log=self.attack.reads_log))
            try:
                self.fight()
            except (OSError, Refused) as error:
                self.problem(f"{type(error).__name__}: {error}")
            self.finish()
        return self

    def fight(self):
        self.prepare_honest()
        prepared = self.attack.prepare(self) if self.attack.prepare else None
        self.start_honest()
        time.sleep(self.choose(0.6, 1.5))
        self.measure_base()
        self.begun = time.monotonic()
        try:
            self.attack.perform(self, prepared)
            # A short attack leaves time for its effects.
            time.sleep(max(0.2, 1 - (time.monotonic() - self.begun)))
        finally:
            self.ended = time.monotonic()
            self.expect(self.site.end is None, f"the server ended with {self.site.end}")

    def measure_base(self):
        self.figures["rss_before"] = round(self.site.memory(), 1)
        self.figures["descriptors_before"] = self.site.descriptor_count()
        self.site.forget_peak()

    def prepare_honest(self):
        self.site.add_app("org.example.Honest", team="HONESTTEAM")
        self.device = self.site.add_device("honest")
        self.key = self.site.add_key("HONESTTEAM")
        self.provider_token = self.key.token()
        self.token = self.device.register("org.example.Honest")

    def start_honest(self):
        self.honest = subprocess.Popen(
            [sys.executable, f"{HERE}/honest.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.cleanup.callback(self.end_honest)
        self.tell_honest({
            "port": self.site.port, "authority": self.site.place.authority, "secret": self.device.secret,
            "token": self.token, "topic": "org.example.Honest", "provider_token": self.provider_token})
        self.honest.stdout.readline()

    def tell_honest(self, message):
        self.honest.stdin.write(json.dumps(message) + "\n")
        self.honest.stdin.flush()

    def end_honest(self):
        self.honest.kill()
        self.honest.wait()
        self.honest.stdin.close()
        self.honest.stdout.close()

    def dismiss_honest(self):
        """Ends and checks the honest traffic. An attack that stops the server calls this first."""
        if not self.honest or self.honest_is_over:
            return
        self.honest_is_over = True
        with contextlib.suppress(OSError):
            self.tell_honest("over")
        self.judge_honest(json.loads(self.honest.stdout.readline() or "{}"))

    def finish(self):
        self.dismiss_honest()
        if self.site.end is None:
            self.judge_memory()
            code = self.site.stop()
            self.expect(code == 0, f"SIGTERM ended the server with {code}")
        self.note_log()

    def judge_honest(self, report):
        samples = report.get("samples", [])
        during = [one for one in samples
                  if self.begun and one["end"] >= self.begun and one["start"] <= (self.ended or one["start"])]
        for kind in ("steady", "near", "far"):
            mine = [one for one in during if one["kind"] == kind]
            times = [(one["end"] - one["start"]) * 1000 for one in mine if one["status"] == 200]
            for share in (50, 95, 99):
                self.figures[f"{kind}_p{share}"] = percentile(times, share / 100)
            wrong = [one for one in samples if one["kind"] == kind and one["status"] != 200]
            self.figures[f"{kind}_failed"] = len(wrong)
            if wrong and (kind in self.attack.must_serve):
                self.problem(f"{len(wrong)} of {len(mine)} {kind} requests failed, the first: {wrong[0]['status']}")
        self.figures |= {"delivered": report.get("delivered", 0), "lost": len(report.get("lost", []))}
        self.judge_newcomers(samples)
        self.expect(samples and self.figures["delivered"], "no honest notification was delivered")
        self.expect(not report.get("lost"), f"{self.figures['lost']} accepted notifications were not delivered")
        for end in report.get("device_ends", [])[:1]:
            self.problem(f"the honest device: {end}")

    def judge_newcomers(self, samples):
        """Checks that new connections were served during an attack that tries to lock newcomers out."""
        if not self.held:
            return
        for kind in ("near", "far"):
            served = [one for one in samples if one["kind"] == kind and one["status"] == 200
                      and one["start"] >= self.held[0] and one["end"] <= self.held[1]]
            self.figures[f"{kind}_served_meanwhile"] = len(served)
            self.expect(served, f"no new connection ({kind}) was served while the attack held")

    def judge_memory(self):
        if "rss_before" not in self.figures:
            return
        base = self.figures["rss_before"]
        peak = self.figures["rss_peak"] = round(self.site.memory("VmHWM"), 1)
        start, deadline = time.monotonic(), (self.ended or time.monotonic()) + RECOVERY_SECONDS
        while time.monotonic() < deadline and not self.is_recovered:
            time.sleep(0.1)
        self.figures |= {
            "rss_after": round(self.site.memory(), 1), "descriptors_after": self.site.descriptor_count(),
            "recovery_seconds": round(time.monotonic() - start, 1)}
        self.expect(peak - base < GROWTH_MAX or not MEASURES_MEMORY, f"memory grew from {base} to {peak} MiB")
        self.expect(self.is_recovered, f"a minute later {self.figures['rss_after']} MiB (base {base}) and "
                    f"{self.figures['descriptors_after']} descriptors (base {self.figures['descriptors_before']})")

    @property
    def is_recovered(self):
        return ((self.site.memory() <= self.figures["rss_before"] + REMAINDER_MAX or not MEASURES_MEMORY)
                and self.site.descriptor_count() <= self.figures["descriptors_before"] + DESCRIPTOR_REMAINDER_MAX)

    def note_log(self):
        text = self.site.log()
        self.figures["log_lines"] = text.count("\n")
        for word in ("Fatal error", "Precondition failed", "Illegal instruction"):
            at = text.find(word)
            if at >= 0:
                self.problem(text[at:at + 300])

    # Helpers for attacks

    def threads(self, work, arguments):
        """Runs the work for each argument in parallel, and waits for all."""
        threads = [threading.Thread(target=work, args=(argument,)) for argument in arguments]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def report(self):
        return {"name": self.attack.name, "problems": self.problems, "figures": self.figures, "notes": self.notes,
                "line": self.line()}

    def line(self):
        figures = {"steady_p95": None, "far_p95": None, "delivered": 0, "lost": 0, "rss_peak": None, "rss_after": None}
        figures |= self.figures
        verdict = "FAIL" if self.problems else "PASS"
        text = (f"{verdict} {self.attack.name:22} honest p50/p95/p99 {figures.get('steady_p50')}/"
                f"{figures['steady_p95']}/{figures.get('steady_p99')} ms, fresh p95 {figures.get('near_p95')} ms "
                f"(other address {figures['far_p95']}), delivered {figures['delivered']}, lost {figures['lost']}, "
                f"RSS {figures.get('rss_before')} -> {figures['rss_peak']} -> {figures['rss_after']} MiB, descriptors "
                f"{figures.get('descriptors_before')} -> {figures.get('descriptors_after')}")
        notes = "".join(f"; {name}={value}" for name, value in self.notes.items())
        return text + notes + "".join(f"\n     - {problem}" for problem in self.problems)


class Attack:
    """A named attack. `prepare` runs before the honest traffic starts, and `perform` beside it."""

    all = []

    def __init__(self, name, finding, perform, prepare=None, options=(), wrapper=(), reads_log=True,
                 must_serve=("steady", "far")):
        self.name, self.finding, self.perform, self.prepare = name, finding, perform, prepare
        self.options, self.wrapper, self.reads_log, self.must_serve = options, wrapper, reads_log, must_serve


def attack(finding, **options):
    """Registers the attack of a finding. Its name is the function's."""
    def register(perform):
        Attack.all.append(Attack(perform.__name__.replace("_", "-"), finding, perform, **options))
        return perform
    return register
