# SPDX-License-Identifier: Apache-2.0
"""httpx: a plain HTTP/2 client with ALPN h2 and http/1.1."""
import asyncio
import ssl
import time

import httpx
import jwt

import common

with open(common.KEY_FILE) as file:
    PROVIDER_TOKEN = jwt.encode({"iss": common.TEAM_ID, "iat": int(time.time())}, file.read(), algorithm="ES256",
                                headers={"kid": common.KEY_ID})


async def send_one(client, token, topic, payload):
    response = await client.post(f"/3/device/{token}", json=payload, headers={
        "authorization": f"bearer {PROVIDER_TOKEN}", "apns-topic": topic, "apns-push-type": "alert"})
    assert response.http_version == "HTTP/2" and response.headers["apns-id"]
    if response.status_code == 200:
        return common.ACCEPTED, None
    return response.json()["reason"], response.json().get("timestamp")


async def with_client(work):
    async with httpx.AsyncClient(http2=True, base_url=common.URL,
                                 verify=ssl.create_default_context(cafile=common.CA_FILE)) as client:
        return await work(client)


def send(token, topic, payload):
    return asyncio.run(with_client(lambda client: send_one(client, token, topic, payload)))


def batch(tokens, payload):
    results = asyncio.run(with_client(lambda client: asyncio.gather(
        *(send_one(client, token, common.TOPIC, payload) for token in tokens))))
    return [word for word, _ in results]


common.converse(send, batch)
