# SPDX-License-Identifier: Apache-2.0
"""kalyke-apns: a connection and a provider token for each message, `iat` as a text, a class for each reason."""
import asyncio
import os

import common

os.environ["SSL_CERT_FILE"] = common.CA_FILE

from kalyke import ApnsClient, ApnsConfig
from kalyke.exceptions import ApnsProviderException


class Client(ApnsClient):
    _base_url = common.URL


client = Client(use_sandbox=False, team_id=common.TEAM_ID, auth_key_id=common.KEY_ID,
                auth_key_filepath=common.KEY_FILE)


async def send_one(token, topic, payload):
    try:
        await client.send_message(device_token=token, payload=payload, apns_config=ApnsConfig(topic=topic))
        return common.ACCEPTED, None
    except ApnsProviderException as error:
        return type(error).__name__, error.error.get("timestamp")


async def send_many(tokens, payload):
    return [word for word, _ in await asyncio.gather(*(send_one(token, common.TOPIC, payload) for token in tokens))]


common.converse(lambda *arguments: asyncio.run(send_one(*arguments)),
                lambda *arguments: asyncio.run(send_many(*arguments)))
