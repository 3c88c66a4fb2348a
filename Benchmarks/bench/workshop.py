# SPDX-License-Identifier: Apache-2.0
"""Provides the shared state of scenarios: temporary directory, certificate, number of repeats, rows of the table."""
import os
import pathlib
import random
import shutil
import subprocess
import tempfile

from .goals import GOALS, is_met
from .measure import Rounds, median, say


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
        # The command lines of the measured servers, and the configuration files that they name.
        self.commands = {}
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

    def row(self, scenario, what, found, goal=None, figures=None):
        """Adds a row to the table; `found` is the Rounds of it, or the only value. `goal` is a key of GOALS."""
        rounds = found if isinstance(found, Rounds) else Rounds([(found, True)])
        goal = GOALS[goal] if goal else None
        value = median(rounds.values or rounds.noisy)
        self.rows.append({
            "scenario": scenario, "what": what, "goal": goal, "values": [round(one, 4) for one in rounds.values],
            "noisy": [round(one, 4) for one in rounds.noisy], "figures": figures or {}})
        mark = {True: "met", False: "MISSED", None: ""}[is_met(goal, value)]
        say(f"  {scenario}. {what}: {value:.2f} {' '.join(map(str, goal or ()))} {mark}")

    def disclose(self, command, configuration=""):
        """Keeps the command line of a measured server for the results file."""
        self.commands[command] = configuration

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)
