# SPDX-License-Identifier: Apache-2.0
"""PyAPNs2's interface, over hyper (apns2-up) or over httpx (mopyapns): both packages are called apns2."""
import os

import common

os.environ["SSL_CERT_FILE"] = common.CA_FILE

from apns2.client import APNsClient, Notification
from apns2.credentials import TokenCredentials
from apns2.errors import APNsException, Unregistered
from apns2.payload import Payload

try:
    import hyper.tls
    hyper.tls.cert_loc = common.CA_FILE
except ImportError:
    pass

APNsClient.LIVE_SERVER, APNsClient.DEFAULT_PORT = common.HOST, common.PORT
client = APNsClient(TokenCredentials(
    auth_key_path=common.KEY_FILE, auth_key_id=common.KEY_ID, team_id=common.TEAM_ID))


def as_payload(payload):
    return Payload(alert=payload["aps"]["alert"], badge=1, sound="default",
                   custom={key: value for key, value in payload.items() if key != "aps"})


def send(token, topic, payload):
    try:
        client.send_notification(token, as_payload(payload), topic=topic)
        return common.ACCEPTED, None
    except Unregistered as error:
        return "Unregistered", error.timestamp
    except APNsException as error:
        return type(error).__name__, None


def batch(tokens, payload):
    results = client.send_notification_batch(
        [Notification(token, as_payload(payload)) for token in tokens], topic=common.TOPIC)
    words = [result[0] if isinstance(result, tuple) else result for result in results.values()]
    return [common.ACCEPTED if word == "Success" else word for word in words]


common.converse(send, batch)
