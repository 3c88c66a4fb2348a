# SPDX-License-Identifier: Apache-2.0
"""Counts instructions and allocations for each request on a server's loop, and compares them with gate.json.

    Benchmarks/gate.py [--record] [PROGRAM]

A `refused` request is validated, authenticated, and refused for its device token. An `accepted` request is stored and
answered. The gate fails if instructions grow by more than 3 %, or allocations by more than 5 % and more than 0.02.

Valgrind counts, so the numbers repeat within half a percent, regardless of other load on the machine, and need no
counters of the processor. The counts of a run with few requests are subtracted from those of a run with many, which
removes the cost of startup, handshakes and enrolment. Only the loop's thread counts, since the batches of the store's
writer depend on timing.
"""
import asyncio
import collections
import concurrent.futures
import glob
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Tests", "EndToEndTests", "Providers"))
import httpx  # noqa: E402
import wire  # noqa: E402

TOPIC = "org.example.Gate"
FEW, MANY = 2000, 10000
# For each number, the permitted growth: a factor, and a difference for numbers near zero, which are rounded.
TOLERANCE = {"instructions": (1.03, 0), "allocations": (1.05, 0.02)}
PAYLOAD = (
    '{"aps":{"alert":{"title":"Lunch Together","body":"At noon, the usual place. Bring the report, please."},"badge":3,'
    '"sound":"default"},"order":{"id":420133,"table":4,"items":["coffee","coffee","cake"],"paid":false},'
    '"trace":"4bf92f3577b34da6a3ce929d0e0e4736"}'
)


async def enrol(facts, count):
    """Enrols devices that never connect, and returns their device tokens."""
    context = ssl.create_default_context(cafile=facts["ca_file"])
    base = f"https://{facts['host']}:{facts['port']}"
    async with httpx.AsyncClient(http2=True, verify=context, base_url=base, timeout=60) as client:
        tokens = []
        for _ in range(count):
            answer = await client.post("/v1/devices", json={"name": "gate", "platform": "linux"})
            secret = answer.raise_for_status().json()["device_secret"]
            answer = await client.put(f"/v1/apps/{TOPIC}", headers={"authorization": f"Bearer {secret}"})
            tokens.append(answer.raise_for_status().json()["device_token"])
        return tokens


def load(program, files, scenario, count):
    """Sends requests to a server under callgrind; returns the instructions and allocations of its loop."""
    output = f"{files}/{scenario}.{count}"
    server = subprocess.Popen(
        ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={output}", program,
         "--ephemeral", "--log-level", "warning", "--loops", "1", "--open-enrolment", "yes", "--topic", TOPIC],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        facts = json.loads(server.stdout.readline())
        if scenario == "accepted":
            tokens = asyncio.run(enrol(facts, MANY // 90 + 1))
        else:
            tokens = [f"{number:064x}" for number in range(1, 1001)]
        with open(f"{output}.addresses", "w") as file:
            file.writelines(f"https://127.0.0.1:{facts['port']}/3/device/{token}\n" for token in tokens)
        with open(f"{output}.payload", "w") as file:
            file.write(PAYLOAD)
        token = wire.provider_token(facts["key_file"], facts["key_id"], facts["team_id"])
        report = subprocess.run(
            ["h2load", "-n", str(count), "-c", "4", "-m", "100", "-t", "1", "-d", f"{output}.payload",
             "-i", f"{output}.addresses", "-H", f"authorization: bearer {token}", "-H", f"apns-topic: {TOPIC}",
             "-H", "apns-push-type: alert"], capture_output=True, text=True, timeout=600).stdout
    finally:
        server.terminate()
        server.wait()
    wanted = "2xx" if scenario == "accepted" else "4xx"
    if not re.search(rf"\b{count} {wanted}", report):
        sys.exit(f"gate: not every answer was {wanted}:\n{report}")
    for path in glob.glob(f"{output}-*"):
        instructions, allocations, is_loop = read(path)
        if is_loop:
            return instructions, allocations
    sys.exit("gate: no thread took headers of HTTP/2")


def read(path):
    """Returns the instructions and allocations of one thread, and whether it is a loop that serves HTTP/2."""
    names, callee, calls, instructions, is_loop = {}, None, collections.Counter(), 0, False
    with open(path) as file:
        for line in file:
            if line.startswith(("fn=", "cfn=")):
                number, name = re.match(r"c?fn=\((\d+)\)(?: (.*))?", line).groups()
                names.setdefault(number, name)
                callee = names[number]
                is_loop = is_loop or "onHeader" in callee
            elif line.startswith("calls="):
                calls[callee.split("'")[0]] += int(line[6:].split()[0])
            elif line.startswith("totals:"):
                instructions = int(line.split()[1])
    return instructions, sum(calls[name] for name in ("malloc", "calloc", "realloc", "aligned_alloc")), is_loop


def main(arguments):
    is_recording = "--record" in arguments
    arguments = [argument for argument in arguments if argument != "--record"]
    program = arguments[0] if arguments else os.path.join(HERE, "..", ".build", "release", "posthornd")
    missing = [tool for tool in ("valgrind", "h2load", program) if shutil.which(tool) is None]
    if missing:
        sys.exit(f"gate: nothing was counted, because {missing[0]} is missing. Run make setup and make gate")
    measured = {}
    with tempfile.TemporaryDirectory() as files, concurrent.futures.ThreadPoolExecutor(2) as pool:
        # Counts do not depend on other load, so two servers run at a time.
        loads = [(scenario, count) for scenario in ("accepted", "refused") for count in (MANY, FEW)]
        found = dict(zip(loads, pool.map(lambda load_of: load(program, files, *load_of), loads)))
        for scenario in ("refused", "accepted"):
            each = [(more - less) / (MANY - FEW) for less, more in zip(found[scenario, FEW], found[scenario, MANY])]
            measured[scenario] = {"instructions": round(each[0]), "allocations": round(each[1], 2)}
    recorded_path = os.path.join(HERE, "gate.json")
    if is_recording:
        with open(recorded_path, "w") as file:
            file.write(json.dumps(measured, indent=2) + "\n")
    with open(recorded_path) as file:
        recorded = json.load(file)
    failures = 0
    for scenario, numbers in measured.items():
        for name, number in numbers.items():
            factor, noise = TOLERANCE[name]
            limit = max(recorded[scenario][name] * factor, recorded[scenario][name] + noise)
            verdict = "good" if number <= limit else "TOO MUCH"
            failures += number > limit
            print(f"{scenario:9} {name:13} {number:10} recorded {recorded[scenario][name]:10} {verdict}")
    if failures:
        sys.exit("gate: a request costs more than recorded. Fix the regression, or run Benchmarks/gate.py --record and "
                 "give the reason in the commit message")


main(sys.argv[1:])
