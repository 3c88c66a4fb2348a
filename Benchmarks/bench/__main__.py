# SPDX-License-Identifier: Apache-2.0
"""Runs scenarios: python3 -m bench [A … I] [L]."""
import os
import subprocess
import sys

from . import desktop, devices, report, throughput
from .measure import Failure, say
from .workshop import Workshop

SCENARIOS = {
    "A": throughput.scenario_a, "B": throughput.scenario_b, "C": throughput.scenario_c, "D": throughput.scenario_d,
    "E": devices.scenario_e, "F": devices.scenario_f, "G": devices.scenario_g, "H": devices.scenario_h,
    "I": devices.scenario_i, "L": desktop.scenario_l}


def main(names):
    # A figure to be quoted is the median of seven rounds.
    os.environ.setdefault("BENCH_REPEATS", "3" if names else "7")
    names = names or list(SCENARIOS)
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown:
        say(f"no scenario {unknown[0]}: say some of {' '.join(SCENARIOS)}")
        return 2
    shop, failures, measured = Workshop(), {}, report.commit()
    try:
        for name in names:
            say(f"{name}. {SCENARIOS[name].__doc__}")
            try:
                SCENARIOS[name](shop)
            except (Failure, OSError, KeyError, subprocess.SubprocessError) as failure:
                failures[name] = f"{type(failure).__name__}: {failure}"
                say(f"  {name} FAILED: {failure}")
    finally:
        shop.close()
    path, text = report.write(shop, measured, names, failures)
    print(text)
    say(f"written to {path}")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
