# SPDX-License-Identifier: Apache-2.0
"""Provides the shared state of scenarios: temporary directory, certificate, number of repeats, rows of the table."""
import os
import pathlib
import random
import shutil
import subprocess
import tempfile

from .measure import say


class Workshop:
    """One run of the benchmark."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="posthorn-bench."))
        self.repeats = int(os.environ.get("BENCH_REPEATS", "3"))
        self.retries = int(os.environ.get("BENCH_RETRIES", "1"))
        self.full = os.environ.get("BENCH_FULL") == "1"
        self.certificate = (str(self.root / "cert.pem"), str(self.root / "key.pem"))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
             "2", "-subj", "/CN=localhost", "-out", self.certificate[0], "-keyout", self.certificate[1]],
            check=True, capture_output=True)
        # Paths with device tokens that no server has issued.
        digits = random.Random(4)
        self.foreign_paths = [f"/3/device/{digits.getrandbits(256):064x}" for _ in range(1000)]
        self.rows = []
        self.details = []
        self.made = 0

    def make_directory(self, name):
        self.made += 1
        path = self.root / f"{self.made}-{name}"
        path.mkdir()
        return path

    def write(self, name, lines):
        path = self.root / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def keep(self, scenario, what, answers):
        """Keeps all answers for the results file."""
        self.details.append({"scenario": scenario, "what": what, "answers": answers})

    def row(self, scenario, what, ratio, at_most=None, at_least=None, figures=""):
        """Adds a row to the table; `ratio` may also be an absolute figure if the goal is one."""
        met = None
        if at_most is not None:
            met = ratio <= at_most
        elif at_least is not None:
            met = ratio >= at_least
        goal = f"≤ {at_most}" if at_most is not None else f"≥ {at_least}" if at_least is not None else "–"
        self.rows.append({
            "scenario": scenario, "what": what, "measured": round(ratio, 3), "goal": goal, "met": met,
            "figures": figures})
        mark = {True: "met", False: "MISSED", None: ""}[met]
        say(f"  {scenario}. {what}: {ratio:.2f} (goal {goal}) {mark}  {figures}")

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)
