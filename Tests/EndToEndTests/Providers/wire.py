# SPDX-License-Identifier: Apache-2.0
"""What the providers of the end-to-end tests share: commands as JSON lines, and provider tokens.

Each line of standard input is an object with "op"; each gets one line on standard output: the answer, or {"failure": …}.
"""
import asyncio
import json
import sys
import time
import traceback

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec


def provider_token(key_file, key_id, team_id, age_seconds=0, **_):
    """Signs a provider token; without a key file, with a key that no server knows."""
    if key_file:
        with open(key_file, "rb") as file:
            key = serialization.load_pem_private_key(file.read(), None)
    else:
        key = ec.generate_private_key(ec.SECP256R1())
    claims = {"iss": team_id, "iat": int(time.time()) - age_seconds}
    return jwt.encode(claims, key, algorithm="ES256", headers={"kid": key_id})


async def serve(operations):
    """Reads commands until the input ends, and answers each before the next is read."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command = json.loads(line)
        try:
            answer = await operations[command["op"]](**command)
        except Exception as error:  # everything that goes wrong is the test's to judge
            traceback.print_exc()
            answer = {"failure": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
