# SPDX-License-Identifier: Apache-2.0
"""Provider tokens in every form that clients create, and in some forbidden ones."""
import base64
import functools
import hashlib
import hmac
import json
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature


def url_base64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def standard_base64(data):
    """Encodes base64 with padding, + and /, as a2 does."""
    return base64.b64encode(data).decode()


@functools.cache
def load_key(file):
    with open(file, "rb") as content:
        return serialization.load_pem_private_key(content.read(), None)


def signature(key, text, algorithm, form):
    """Signs with ECDSA, in the form of JOSE (R and S concatenated) or of OpenSSL (DER)."""
    digest, width = {"ES256": (hashes.SHA256(), 32), "ES512": (hashes.SHA512(), 66)}[algorithm]
    der = key.sign(text.encode(), ec.ECDSA(digest))
    if form == "der":
        return der
    return b"".join(number.to_bytes(width, "big") for number in decode_dss_signature(der))


class Key:
    """A signing key with its IDs."""

    def __init__(self, file, key_id, team_id):
        self.private, self.id, self.team_id = load_key(file), key_id, team_id

    @classmethod
    def from_pem(cls, text, key_id, team_id):
        """Makes a key from PEM text instead of a file."""
        key = cls.__new__(cls)
        key.private = serialization.load_pem_private_key(text.encode(), None)
        key.id, key.team_id = key_id, team_id
        return key

    def sign(self, age=0, algorithm="ES256", form="raw", encode=url_base64, header=(), claims=(), without=(),
             indent=None, signing_key=None):
        """Signs a provider token.

        age: seconds since `iat`, negative for the future. header, claims: members to add or replace. without: members
        to leave out. indent: pretty-prints. signing_key: signs instead of this key.
        """
        head = {"alg": algorithm, "kid": self.id} | dict(header)
        body = {"iss": self.team_id, "iat": int(time.time()) - age} | dict(claims)
        parts = [{name: value for name, value in part.items() if name not in without} for part in (head, body)]
        text = ".".join(encode(json.dumps(part, indent=indent).encode()) for part in parts)
        return f"{text}.{encode(signature(signing_key or self.private, text, algorithm, form))}"

    def unsigned(self):
        """Returns a token with `alg` none. A server that accepts it accepts every sender."""
        head, body = {"alg": "none", "kid": self.id}, {"iss": self.team_id, "iat": int(time.time())}
        return f"{url_base64(json.dumps(head).encode())}.{url_base64(json.dumps(body).encode())}."

    def signed_with_public_key(self):
        """Returns a token with `alg` HS256 and the public key as the secret, which is public knowledge."""
        secret = self.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        head, body = {"alg": "HS256", "kid": self.id}, {"iss": self.team_id, "iat": int(time.time())}
        text = f"{url_base64(json.dumps(head).encode())}.{url_base64(json.dumps(body).encode())}"
        return f"{text}.{url_base64(hmac.new(secret, text.encode(), hashlib.sha256).digest())}"


def stranger():
    """Returns a P-256 key that no server knows."""
    return ec.generate_private_key(ec.SECP256R1())
