# SPDX-License-Identifier: Apache-2.0
"""Enrols devices with an ephemeral server and writes down their device tokens: DIRECTORY COUNT ROUNDS."""
import asyncio
import json
import ssl
import sys

import httpx

import wire

TOPIC = "org.example.Bench"


async def device_token(client, gate):
    async with gate:
        answer = await client.post("/v1/devices", json={"name": "bench", "platform": "linux"})
        secret = answer.raise_for_status().json()["device_secret"]
        answer = await client.put(f"/v1/apps/{TOPIC}", headers={"authorization": f"Bearer {secret}"})
        return answer.raise_for_status().json()["device_token"]


async def main(directory, count, rounds):
    with open(f"{directory}/line.json") as file:
        facts = json.load(file)
    with open(f"{directory}/token", "w") as file:
        file.write(wire.provider_token(facts["key_file"], facts["key_id"], facts["team_id"]))
    with open(f"{directory}/port", "w") as file:
        file.write(str(facts["port"]))
    context = ssl.create_default_context(cafile=facts["ca_file"])
    base = f"https://{facts['host']}:{facts['port']}"
    gate = asyncio.Semaphore(64)
    async with httpx.AsyncClient(http2=True, verify=context, base_url=base, timeout=60) as client:
        for number in range(1, rounds + 1):
            tokens = await asyncio.gather(*(device_token(client, gate) for _ in range(count)))
            with open(f"{directory}/tokens.{number}", "w") as file:
                file.write("".join(f"{token}\n" for token in tokens))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
