#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends one notification with aioapns, an unmodified APNs client. Only the host and the authority are Posthorn's.

    send_with_aioapns.py --host 127.0.0.1 --port 2197 --ca-file authority.pem --key AuthKey_ABC1234567.p8 \
        --key-id ABC1234567 --team-id DEF7654321 --topic org.example.Mail --token 8f… \
        '{"aps": {"alert": {"title": "Lunch?", "body": "At noon."}, "badge": 1, "sound": "default"}}'
"""
import argparse
import asyncio
import json
import logging
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol
from aioapns.exceptions import MaxAttemptsExceeded


def arguments():
    parser = argparse.ArgumentParser(description="Send one notification with aioapns.")
    for name in ("host", "port", "ca-file", "key", "key-id", "team-id", "topic", "token"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("payload", help="the JSON object that a back-end would send to Apple")
    return parser.parse_args()


def read(what, file, how):
    """Applies a function to a file or a text and returns the result; exits with a one-line message if that fails."""
    try:
        return how(file)
    except (OSError, ValueError) as error:
        sys.exit(f"send_with_aioapns.py: {what} {file!r}: {error}")


async def main(options):
    # aioapns has no option for the host. It reads these two class attributes.
    APNsProductionClientProtocol.APNS_SERVER = options.host
    APNsProductionClientProtocol.APNS_PORT = read("--port", options.port, int)
    key = read("--key", options.key, lambda path: open(path).read())
    context = read("--ca-file", options.ca_file, lambda path: ssl.create_default_context(cafile=path))
    message = read("payload", options.payload, json.loads)
    # One line in the log of aioapns says why the connection failed. The other lines are discarded.
    logging.getLogger("aioapns").addFilter(lambda record: record.msg.startswith("Could not connect"))
    client = APNs(
        key=key, key_id=options.key_id, team_id=options.team_id, topic=options.topic, ssl_context=context,
        max_connection_attempts=1)
    request = NotificationRequest(device_token=options.token, message=message, push_type=PushType.ALERT)
    try:
        result = await client.send_notification(request)
    except MaxAttemptsExceeded:
        sys.exit(1)
    finally:
        client.pool.close()
    print(f"status {result.status}, apns-id {result.notification_id}", result.description or "")
    return 0 if result.is_successful else 1


sys.exit(asyncio.run(main(arguments())))
