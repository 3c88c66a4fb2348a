#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates the built-in sounds as sums of fading sine waves. The output is reproducible. Needs oggenc (vorbis-tools).

    scripts/make-sounds.py [DIRECTORY]

Each tone has a start, a length, a frequency, a loudness, partials (multiples of the frequency with their share), an attack and a
decay. The peak level is -3 dB.
"""
import math
import pathlib
import struct
import subprocess
import sys
import wave

RATE = 44_100
PEAK = 0.7
BELL = ((1, 1), (2.76, 0.4), (5.4, 0.2), (8.93, 0.08))
HORN = ((1, 1), (2, 0.6), (3, 0.45), (4, 0.25), (5, 0.12))
PURE = ((1, 1), (2, 0.08))
WOOD = ((1, 1), (3.9, 0.3), (9.2, 0.1))

# name: tones of (start, length, frequency, loudness, partials, attack, decay), in seconds and hertz
SOUNDS = {
    # The call of a post horn: a fourth up, then a third up.
    "posthorn": [(0, 0.18, 392, 0.8, HORN, 0.02, 3), (0.17, 0.18, 523.25, 0.9, HORN, 0.02, 3),
                 (0.34, 0.5, 659.25, 1, HORN, 0.02, 4)],
    "drop": [(0, 0.25, 880, 1, PURE, 0.002, 18), (0.07, 0.35, 1320, 0.7, PURE, 0.002, 14)],
    "bell": [(0, 1.2, 784, 1, BELL, 0.002, 4.5)],
    "wood": [(0, 0.15, 620, 1, WOOD, 0.001, 40), (0.12, 0.2, 830, 0.9, WOOD, 0.001, 35)],
    "glimmer": [(0.06 * step, 0.5, frequency, 0.7, PURE, 0.004, 9)
                for step, frequency in enumerate((1046.5, 1318.5, 1568, 2093))],
    "alarm": [(0.3 * step, 0.22, frequency, 1, HORN, 0.01, 2)
              for step, frequency in enumerate((740, 587.33, 740, 587.33))],
}


def samples(tones):
    count = int(max(start + length for start, length, *_ in tones) * RATE)
    mixed = [0.0] * count
    for start, length, frequency, loudness, partials, attack, decay in tones:
        first, total = int(start * RATE), int(length * RATE)
        for index in range(min(total, count - first)):
            time = index / RATE
            # Fade in, decay exponentially, and fade out to zero at the end, so that there is no click.
            shape = min(1, time / attack) * math.exp(-decay * time) * min(1, (total - index) / (0.02 * RATE))
            tone = sum(share * math.sin(2 * math.pi * frequency * multiple * time) for multiple, share in partials)
            mixed[first + index] += loudness * shape * tone
    loudest = max(map(abs, mixed))
    return [value / loudest * PEAK for value in mixed]


def main(directory):
    directory.mkdir(parents=True, exist_ok=True)
    for serial, (name, tones) in enumerate(SOUNDS.items(), 1):
        path = directory / f"{name}.wav"
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(b"".join(struct.pack("<h", round(value * 32767)) for value in samples(tones)))
        subprocess.run(
            ["oggenc", "--quiet", "--quality", "3", "--serial", str(serial), "--title", f"Posthorn: {name}", "--comment",
             "license=Apache-2.0", "--output", str(path.with_suffix(".oga")), str(path)], check=True)
        path.unlink()


main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                  pathlib.Path(__file__).parent.parent / "deploy/sounds/posthorn/stereo"))
