# SPDX-License-Identifier: Apache-2.0
"""P: method and path."""
from catalogue import Answer, case, expect
from stack import ALERT

NOT_ALLOWED, BAD_PATH = Answer(405, "MethodNotAllowed"), Answer(404, "BadPath")


def request_line(id, method, path, wanted, signed=True):
    """Registers a case that requests a path. `{token}` stands for a valid device token."""
    @case(id, f"{method} {path}, {'valid' if signed else 'no'} credentials", wanted)
    def _(stack):
        body = b"" if method in ("GET", "HEAD", "DELETE") else ALERT
        return stack.push(body, method=method, path=path.replace("{token}", stack.token),
                          without=[] if signed else ["authorization"])


request_line("P-01", "GET", "/", NOT_ALLOWED, signed=False)
request_line("P-02", "GET", "/3/device/{token}", NOT_ALLOWED)
request_line("P-03", "PUT", "/3/device/{token}", NOT_ALLOWED)
request_line("P-04", "DELETE", "/3/device/{token}", NOT_ALLOWED)
request_line("P-06", "PATCH", "/3/device/{token}", NOT_ALLOWED)
request_line("P-07", "POST", "/", BAD_PATH)
request_line("P-08", "POST", "/3/devices/{token}", BAD_PATH)
request_line("P-09", "POST", "/2/device/{token}", BAD_PATH)
request_line("P-10", "POST", "/3/device/", Answer(400, "MissingDeviceToken"))
request_line("P-11", "POST", "/3/device", Answer(400, "MissingDeviceToken"))
request_line("P-12", "POST", "/3/device/{token}/x", BAD_PATH)
request_line("P-13", "POST", "/3/device/{token}?x=1", Answer(400, "BadDeviceToken"))
request_line("P-14", "POST", "/3/DEVICE/{token}", BAD_PATH)
request_line("P-15", "GET", "/nothing/here", NOT_ALLOWED)


@case("P-05", "HEAD /3/device/{token}, valid credentials", "405 without a body")
def _(stack):
    exchange = stack.push(b"", method="HEAD")
    expect(exchange.status == 405 and not exchange.data, exchange)
