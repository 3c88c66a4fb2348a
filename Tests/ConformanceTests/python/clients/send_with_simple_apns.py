# SPDX-License-Identifier: Apache-2.0
"""simple-apns: `exp` among the claims; uses the status, and few reasons."""
import os

import common

os.environ["SSL_CERT_FILE"] = common.CA_FILE

from simple_apns import APNSClient, APNSException, APNSTokenError

APNSClient.ENDPOINT_PRODUCTION = common.URL
clients = {}


def client_of(topic):
    if topic not in clients:
        clients[topic] = APNSClient(team_id=common.TEAM_ID, auth_key_id=common.KEY_ID, auth_key_path=common.KEY_FILE,
                                    bundle_id=topic)
    return clients[topic]


def send(token, topic, payload):
    try:
        client_of(topic).send_notification(device_token=token, payload=payload)
        return common.ACCEPTED, None
    except APNSTokenError as error:
        return ("Unregistered" if "no longer" in str(error) else "BadDeviceToken"), None
    except APNSException as error:
        return str(error).removeprefix("Bad request: "), None


def batch(tokens, payload):
    results = client_of(common.TOPIC).send_bulk_notifications(tokens, payload)
    return [common.ACCEPTED if is_good else "refused" for is_good in results.values()]


# It retries payloads that are too large four times, with pauses that would only cost time here.
common.converse(send, batch, knows_size=False)
