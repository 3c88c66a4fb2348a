# SPDX-License-Identifier: Apache-2.0
"""The requests for every client. Uses the standard library only, because each client has its own Python.

A client provides `send(token, topic, payload)`, which returns `(word, milliseconds)`: `accepted` or the reason that the
client reports, and the time of a 410 if it reports that. `batch(tokens, payload)` returns one word for each.
"""
import collections
import json
import os

HOST, PORT = os.environ["APNS_HOST"], int(os.environ["APNS_PORT"])
CA_FILE, TOPIC = os.environ["APNS_CA_FILE"], os.environ["APNS_TOPIC"]
KEY_FILE, KEY_ID, TEAM_ID = os.environ["APNS_KEY_FILE"], os.environ["APNS_KEY_ID"], os.environ["APNS_TEAM_ID"]
TOKEN, GONE = os.environ["APNS_TOKEN"], os.environ["APNS_GONE"]
CERTIFICATE = os.environ.get("APNS_CLIENT_CERT")
URL = f"https://{HOST}:{PORT}"

ACCEPTED = "accepted"
UNKNOWN_TOKEN = "deadbeef" * 8
PAYLOAD = {"aps": {"alert": {"title": "Lunch?", "body": "The usual place at noon."}, "badge": 1, "sound": "default"}}
LARGE_PAYLOAD = {"aps": {"alert": "x"}, "pad": "p" * 4096}
#: The number of tokens of each kind in a batch.
BATCH_COUNT = 20


def good_tokens(count):
    """Returns one device token in many spellings, because clients collect results by the text of the token."""
    letters = [index for index, digit in enumerate(TOKEN) if digit.isalpha()][:10]
    for number in range(count):
        flipped = {index for place, index in enumerate(letters) if number >> place & 1}
        yield "".join(digit.upper() if index in flipped else digit for index, digit in enumerate(TOKEN))


def batch_tokens():
    """Returns valid tokens and others, mixed."""
    for number, token in enumerate(good_tokens(BATCH_COUNT)):
        yield token
        yield f"{UNKNOWN_TOKEN[:-4]}{number:04x}"
    yield GONE


def converse(send, batch, knows_size=True):
    """Runs all requests and prints one line of JSON. Without `knows_size` the client does not send large payloads."""
    refused = {"BadDeviceToken": send(UNKNOWN_TOKEN, TOPIC, PAYLOAD)[0],
               "TopicDisallowed": send(TOKEN, "com.example.unknown", PAYLOAD)[0]}
    if knows_size:
        refused["PayloadTooLarge"] = send(TOKEN, TOPIC, LARGE_PAYLOAD)[0]
    gone = send(GONE, TOPIC, PAYLOAD)
    print(json.dumps({
        "accepted": send(TOKEN, TOPIC, PAYLOAD)[0], "refused": refused, "gone": gone[0], "gone_at": gone[1],
        "batch": collections.Counter(batch(list(batch_tokens()), PAYLOAD))}))
