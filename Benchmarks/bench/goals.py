# SPDX-License-Identifier: Apache-2.0
"""The goals of the scenarios. Each is a ratio of two figures of one run, unless its comment says otherwise."""

GOALS = {
    "A / nghttpd": ("≤", 1.1),
    "B / redis": ("≥", 0.75),
    "B / sqlite 100": ("≥", 0.95),
    "B CPU / sqlite 100": ("≤", 1.35),
    "C / mosquitto, 400": ("≤", 0.85),
    "C / mosquitto, 16": ("≤", 1.0),
    "C trace": ("≤", 1.05),
    "D p50 / mosquitto": ("≤", 1.0),
    "D p99 / redis": ("≤", 1.0),
    "E / floor": ("≤", 1.1),
    # Kilobytes.
    "E HTTP/2": ("≤", 27),
    "F / floor": ("≤", 1.15),
    "F resumed / full": ("≤", 0.66),
    "G / floor": ("≤", 1.25),
    "G last / nchan": ("≤", 1.0),
    # Seconds for 3,000 devices; 1.81 in the run of commit 97f2e3c.
    "H return": ("≤", 1.9),
    "H providers": ("≤", 4),
    "I large / small": ("≤", 1.5),
    # Seconds.
    "I start": ("≤", 3),
    # Percent of a core.
    "I idle": ("≤", 0.5),
    "I memory": ("≤", 1.1),
}


def is_met(goal, value):
    """Returns whether a value meets a goal; None without a goal."""
    if goal is None:
        return None
    sign, bound = goal
    return value <= bound if sign == "≤" else value >= bound
