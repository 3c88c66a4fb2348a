# SPDX-License-Identifier: Apache-2.0
"""The shared parts of the providers of the end-to-end tests: commands as JSON lines, and provider tokens.

Each line of standard input is an object with "op". Each gets one line on standard output: the answer, or {"failure":
…}.
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
    """Signs a provider token. Without a key file, uses a key that no server knows."""
    if key_file:
        with open(key_file, "rb") as file:
            key = serialization.load_pem_private_key(file.read(), None)
    else:
        key = ec.generate_private_key(ec.SECP256R1())
    claims = {"iss": team_id, "iat": int(time.time()) - age_seconds}
    return jwt.encode(claims, key, algorithm="ES256", headers={"kid": key_id})


async def serve(operations):
    """Reads commands until the input ends, and answers each before it reads the next."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command = json.loads(line)
        try:
            answer = await operations[command["op"]](**command)
        except Exception as error:  # the test handles every error
            traceback.print_exc()
            answer = {"failure": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
