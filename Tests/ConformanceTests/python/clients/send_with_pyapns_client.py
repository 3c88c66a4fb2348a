# SPDX-License-Identifier: Apache-2.0
"""pyapns-client: `iat` with a fraction, a class for each reason, three tries on 429 and 5xx."""
from pyapns_client import APNSClient, APNSException, IOSNotification, IOSPayload, IOSPayloadAlert, UnregisteredException

import common

APNSClient.BASE_URLS[APNSClient.MODE_PROD] = common.URL
client = APNSClient(mode=APNSClient.MODE_PROD, root_cert_path=common.CA_FILE, auth_key_path=common.KEY_FILE,
                    auth_key_id=common.KEY_ID, team_id=common.TEAM_ID)


def send(token, topic, payload):
    custom = {key: value for key, value in payload.items() if key != "aps"}
    content = IOSPayload(alert=IOSPayloadAlert(title="Lunch?", body="Noon."), badge=1, sound="default", custom=custom)
    try:
        client.push(notification=IOSNotification(topic=topic, payload=content), device_token=token)
        return common.ACCEPTED, None
    except UnregisteredException as error:
        return "Unregistered", error.timestamp
    except APNSException as error:
        return type(error).__name__.removesuffix("Exception"), None


common.converse(send, lambda tokens, payload: [send(token, common.TOPIC, payload)[0] for token in tokens])
client.close()
