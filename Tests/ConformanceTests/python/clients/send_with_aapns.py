# SPDX-License-Identifier: Apache-2.0
"""aapns: a client certificate, ALPN h2 only, no apns-push-type, two connections."""
import asyncio

from aapns.api import Server
from aapns.errors import ResponseError
from aapns.models import Alert, Notification

import common

loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
client = loop.run_until_complete(Server(
    client_cert_path=common.CERTIFICATE, host=common.HOST, port=common.PORT, ca_file=common.CA_FILE).create_client())
NOTIFICATION = Notification(alert=Alert(title="Lunch?", body="The usual place at noon."), badge=1, sound="default")


async def send_one(token, topic):
    try:
        await client.send_notification(token, NOTIFICATION, topic=topic)
        return common.ACCEPTED, None
    except ResponseError as error:
        return error.reason, None


async def send_many(tokens):
    return [word for word, _ in await asyncio.gather(*(send_one(token, common.TOPIC) for token in tokens))]


# The client checks a payload's size before it sends.
common.converse(lambda token, topic, _: loop.run_until_complete(send_one(token, topic)),
                lambda tokens, _: loop.run_until_complete(send_many(tokens)), knows_size=False)
loop.run_until_complete(client.close())
