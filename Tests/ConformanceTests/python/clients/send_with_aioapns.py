# SPDX-License-Identifier: Apache-2.0
"""aioapns: no ALPN, `host` for `:authority`, any number of parallel streams, answers matched by the exact apns-id."""
import asyncio
import logging
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol

import common

logging.disable(logging.CRITICAL)
APNsProductionClientProtocol.APNS_SERVER, APNsProductionClientProtocol.APNS_PORT = common.HOST, common.PORT
loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)


async def make():
    with open(common.KEY_FILE) as key:
        return APNs(key=key.read(), key_id=common.KEY_ID, team_id=common.TEAM_ID, topic=common.TOPIC, max_connections=1,
                    ssl_context=ssl.create_default_context(cafile=common.CA_FILE))


client = loop.run_until_complete(make())


async def send_one(token, topic, payload):
    result = await client.send_notification(NotificationRequest(
        device_token=token, message=payload, push_type=PushType.ALERT, apns_topic=topic))
    return (common.ACCEPTED if result.is_successful else result.description), result.timestamp


async def send_many(tokens, payload):
    return [word for word, _ in await asyncio.gather(*(send_one(token, common.TOPIC, payload) for token in tokens))]


def batch(tokens, payload):
    return loop.run_until_complete(send_many(tokens, payload))


if sys.argv[1:] == ["burst"]:
    # The pool has no connection yet. All requests wait for it, and are sent before its SETTINGS are read.
    words = batch([common.TOKEN] * 1000, common.PAYLOAD)
    print(words.count(common.ACCEPTED))
else:
    common.converse(lambda *arguments: loop.run_until_complete(send_one(*arguments)), batch)
client.pool.close()
