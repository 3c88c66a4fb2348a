# SPDX-License-Identifier: Apache-2.0
"""curl and openssl: the recipe that Apple documents, with its signature in DER.

A batch is one curl with many URLs, on one connection.
"""
import json
import subprocess
import tempfile

import common

RECIPE = r"""
base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
header=$(printf '{"alg":"ES256","kid":"%s"}' "$APNS_KEY_ID" | base64url)
claims=$(printf '{"iss":"%s","iat":%d}' "$APNS_TEAM_ID" "$(date +%s)" | base64url)
signature=$(printf '%s.%s' "$header" "$claims" | openssl dgst -sha256 -sign "$APNS_KEY_FILE" | base64url)
printf '%s.%s.%s' "$header" "$claims" "$signature"
"""
PROVIDER_TOKEN = subprocess.run(["sh", "-c", RECIPE], check=True, capture_output=True, text=True).stdout


def curl(tokens, topic, payload):
    """Returns body and status of each answer, in order."""
    with tempfile.NamedTemporaryFile("w") as body:
        json.dump(payload, body)
        body.flush()
        result = subprocess.run(
            ["curl", "--silent", "--show-error", "--http2", "--cacert", common.CA_FILE,
             "--header", f"authorization: bearer {PROVIDER_TOKEN}", "--header", f"apns-topic: {topic}",
             "--header", "apns-push-type: alert", "--data-binary", f"@{body.name}",
             "--write-out", "\n%{http_code} %{http_version}\n",
             *(f"{common.URL}/3/device/{token}" for token in tokens)], check=True, capture_output=True, text=True)
    return result.stdout


def results(text):
    """Returns each answer's word and time."""
    for line in filter(None, text.split("\n")):
        if line.startswith("{"):
            body = json.loads(line)
            yield body["reason"], body.get("timestamp")
        elif line == "200 2":
            yield common.ACCEPTED, None
        else:
            assert line.endswith(" 2"), f"not HTTP/2: {line}"


def send(token, topic, payload):
    return next(results(curl([token], topic, payload)))


common.converse(send, lambda tokens, payload: [word for word, _ in results(curl(tokens, common.TOPIC, payload))])
