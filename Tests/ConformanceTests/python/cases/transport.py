# SPDX-License-Identifier: Apache-2.0
"""T: TLS, ALPN, SETTINGS, frames, the lifetime of a connection."""
import socket
import ssl
import warnings

from catalogue import ACCEPTED, case, expect, expect_answer
from stack import ALERT, UNKNOWN_TOKEN
from server import EphemeralServer

MAX_CONCURRENT_STREAMS, REFUSED_STREAM, CANCEL = 3, 7, 8


@case("T-01", "valid alert over TLS 1.2", ACCEPTED)
def _(stack):
    return stack.push(options={"version": ssl.TLSVersion.TLSv1_2})


@case("T-02", "valid alert over TLS 1.3", ACCEPTED)
def _(stack):
    return stack.push(options={"version": ssl.TLSVersion.TLSv1_3})


@case("T-03", "TLS 1.1 hello", "the handshake is refused")
def _(stack):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # This machine's OpenSSL must permit everything, so that only the server refuses.
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.load_verify_locations(stack.ca_file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection((stack.host, stack.port), stack.patience) as plain:
        try:
            context.wrap_socket(plain, server_hostname=stack.host).close()
        except ssl.SSLError as error:
            return expect("PROTOCOL_VERSION" in str(error).upper(), error)
    expect(False, "a handshake")


@case("T-04", "ALPN [h2] offered", "the server selects h2")
def _(stack):
    with stack.peer() as peer:
        expect(peer.socket.selected_alpn_protocol() == "h2", peer.socket.selected_alpn_protocol())


@case("T-05", "no ALPN extension, HTTP/2 with prior knowledge", ACCEPTED)
def _(stack):
    return stack.push(options={"alpn": ()})


@case("T-06", "ALPN [h2, http/1.1] offered", "the server selects h2")
def _(stack):
    with stack.peer(alpn=("h2", "http/1.1")) as peer:
        expect(peer.socket.selected_alpn_protocol() == "h2", peer.socket.selected_alpn_protocol())


@case("T-07", "ALPN [http/1.1] only, HTTP/1.1 POST without credentials", "403 `MissingProviderToken` over HTTP/1.1",
      note="Apple does not support HTTP/1.1; Posthorn supports it for scripts")
def _(stack):
    context = ssl.create_default_context(cafile=stack.ca_file)
    context.set_alpn_protocols(["http/1.1"])
    with socket.create_connection((stack.host, stack.port), stack.patience) as plain, \
            context.wrap_socket(plain, server_hostname=stack.host) as connection:
        connection.sendall(f"POST /3/device/{stack.token} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                           "Content-Length: 2\r\n\r\n{}".encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    expect(answer.startswith(b"HTTP/1.1 403 ") and answer.endswith(b'{"reason":"MissingProviderToken"}'), answer)


@case("T-08", "cleartext HTTP/2 preface on the TLS port", "the connection is closed, possibly with a TLS alert")
def _(stack):
    with socket.create_connection((stack.host, stack.port), stack.patience) as plain:
        plain.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
        try:
            answer = b"".join(iter(lambda: plain.recv(4096), b""))
        except ConnectionResetError:
            return
    expect(answer[:1] in (b"", b"\x15"), answer)


@case("T-09", "a new connection", "the first SETTINGS frame has MAX_CONCURRENT_STREAMS 1000")
def _(stack):
    with stack.peer() as peer:
        peer.until(lambda: peer.settings)
        expect(peer.settings[0].get(MAX_CONCURRENT_STREAMS) == 1000, peer.settings)


@case("T-10", "a new connection", "the first SETTINGS frame has HEADER_TABLE_SIZE 4096, "
      "INITIAL_WINDOW_SIZE 65535, MAX_FRAME_SIZE 16384, MAX_HEADER_LIST_SIZE 8000")
def _(stack):
    with stack.peer() as peer:
        peer.until(lambda: peer.settings)
        now = peer.connection.remote_settings
        got = (now.header_table_size, now.initial_window_size, now.max_frame_size, now.max_header_list_size)
        expect(got == (4096, 65535, 16384, 8000), got)


@case("T-11", "PING", "PING ACK with the same eight bytes")
def _(stack):
    with stack.peer() as peer:
        peer.connection.ping(b"--------")
        peer.flush()
        expect(peer.until(lambda: peer.pings == [b"--------"]), peer.pings)


@case("T-12", "PRIORITY frame, then a valid alert", ACCEPTED)
def _(stack):
    with stack.peer() as peer:
        peer.connection.prioritize(1, weight=200)
        return stack.push(peer=peer)


@case("T-13", "one valid alert, then 100 concurrent ones", "all 200 on one connection")
def _(stack):
    with stack.peer() as peer:
        stack.accepted(peer=peer)
        burst(stack, peer, min(100, peer.stream_limit))


@case("T-14", "20 requests on a new connection before reading SETTINGS", "all 200 on one connection")
def _(stack):
    with stack.peer() as peer:
        burst(stack, peer, 20)
        stack.accepted(peer=peer)


def burst(stack, peer, count):
    exchanges = [peer.open(stack.fields(), ALERT) for _ in range(count)]
    peer.wait_all(exchanges)
    for exchange in exchanges:
        expect_answer(stack.checked(exchange), ACCEPTED)


@case("T-15", "ten requests with bad device tokens, then a valid one, on one connection", ACCEPTED)
def _(stack):
    with stack.peer() as peer:
        for _ in range(10):
            expect(stack.push(peer=peer, token=UNKNOWN_TOKEN).reason == "BadDeviceToken", "another answer")
        return stack.push(peer=peer)


@case("T-16", "payload in DATA frames of one byte", ACCEPTED)
def _(stack):
    with stack.peer() as peer:
        return stack.checked(peer.ask(stack.fields(), ALERT, piece=1))


@case("T-17", "padded DATA frames", ACCEPTED)
def _(stack):
    with stack.peer() as peer:
        return stack.checked(peer.ask(stack.fields(), ALERT, padding=50))


@case("T-18", "`host` instead of `:authority`, with another name", ACCEPTED)
def _(stack):
    return stack.push(without=[":authority"], extra=[("host", "api.push.apple.com")])


@case("T-19", "neither `host` nor `:authority`", ACCEPTED)
def _(stack):
    return stack.push(without=[":authority"])


@case("T-20", "unknown headers `x-acme` and `interruption-level`", ACCEPTED)
def _(stack):
    return stack.push(extra=[("x-acme", "1"), ("interruption-level", "time-sensitive")])


@case("T-21", "content-type, content-length, user-agent, accept, accept-encoding: gzip", "200, not compressed")
def _(stack):
    expect_answer(stack.push(extra=[
        ("content-type", "application/json; charset=utf-8"), ("content-length", str(len(ALERT))),
        ("user-agent", "Go-http-client/2.0"), ("accept", "*/*"), ("accept-encoding", "gzip")]), ACCEPTED)
    # The form of each answer is checked, and a content-encoding would be a defect.
    refused = stack.push(token=UNKNOWN_TOKEN, extra=[("accept-encoding", "gzip")])
    expect(refused.reason == "BadDeviceToken", refused)


@case("T-22", "client resets one stream (CANCEL) while another is open", "the other stream gets 200")
def _(stack):
    with stack.peer() as peer:
        cancelled, other = peer.open(stack.fields(), b"{", ends=False), peer.open(stack.fields(), b"{", ends=False)
        peer.connection.reset_stream(cancelled.stream, CANCEL)
        peer.send_body(other, b"}")
        expect_answer(stack.checked(peer.wait(other)), ACCEPTED)


@case("T-23", "valid alert", "200: END_STREAM on HEADERS, no DATA frame")
def _(stack):
    exchange = stack.push()
    expect(exchange.status == 200 and exchange.ended_by == "headers" and not exchange.data, exchange)


@case("T-24", "bad device token", "the body in exactly one DATA frame, END_STREAM on that frame")
def _(stack):
    exchange = stack.push(token=UNKNOWN_TOKEN)
    expect(exchange.data == [b'{"reason":"BadDeviceToken"}'] and exchange.ended_by == "data", exchange.data)


@case("T-25", "valid alert on the second port", ACCEPTED)
def _(stack):
    return stack.push(options={"port": int(stack["APNS_PORT_ALT"])})


@case("T-26", "header fields split over HEADERS and two CONTINUATION frames", ACCEPTED)
def _(stack):
    with stack.peer() as peer:
        exchange = peer.begin(stack.fields())
        peer.connection.send_headers(exchange.stream, exchange.request)
        frame = peer.connection.data_to_send()
        block = frame[9:]

        def part(kind, flags, data):
            return len(data).to_bytes(3, "big") + bytes([kind, flags]) + frame[5:9] + data

        peer.write(part(1, 0, block[:40]) + part(9, 0, block[40:80]) + part(9, 4, block[80:]))
        peer.send_body(exchange, ALERT)
        return stack.checked(peer.wait(exchange))


@case("T-27", "a header of 9000 bytes", "431; the connection stays usable")
def _(stack):
    with stack.peer() as peer:
        exchange = peer.ask(stack.fields(extra=[("x-big", "b" * 9000)]), ALERT)
        expect(exchange.status == 431, exchange)
        stack.accepted(peer=peer)


@case("T-28", "`streams_before_authentication = 1`: first SETTINGS, then one valid alert",
      "MAX_CONCURRENT_STREAMS 1, raised to 1000 by SETTINGS after the first valid alert",
      note="off by default; T-13 and T-14 hold with and without it")
def _(_):
    with EphemeralServer("--streams-before-authentication", "1") as server:
        with server.stack.peer() as peer:
            peer.until(lambda: peer.settings)
            expect(peer.settings[0].get(MAX_CONCURRENT_STREAMS) == 1, peer.settings)
            refused = server.stack.push(peer=peer, authorization="bearer abc")
            expect(refused.reason == "InvalidProviderToken" and len(peer.settings) == 1, (refused, peer.settings))
            server.stack.accepted(peer=peer)
            raised = peer.until(lambda: peer.settings[-1].get(MAX_CONCURRENT_STREAMS) == 1000)
            expect(raised, peer.settings)
            burst(server.stack, peer, 100)
        # Clients that open many streams before they have read SETTINGS must still be answered.
        with server.stack.peer() as peer:
            burst(server.stack, peer, 20)


@case("T-29", "the server stops gracefully", "open streams are answered, then GOAWAY NO_ERROR with "
      "`{\"reason\":\"Shutdown\"}`")
def _(_):
    with EphemeralServer() as server:
        with server.stack.peer() as peer:
            exchange = peer.open(server.stack.fields(), ALERT[:5], ends=False)
            server.stack.accepted(peer=peer)
            server.terminate()
            expect(not peer.until(lambda: peer.goaways, 2), "GOAWAY before the answer")
            peer.send_body(exchange, ALERT[5:])
            expect_answer(server.stack.checked(peer.wait(exchange)), ACCEPTED)
            peer.until(lambda: peer.is_closed)
            expect_goaway(peer, '{"reason":"Shutdown"}')
            expect(peer.goaways[-1]["last_stream"] >= exchange.stream, peer.goaways)
        expect(server.process.wait(30) == 0, server.story())


@case("T-30", "connection idle for longer than the limit", "GOAWAY NO_ERROR with `{\"reason\":\"IdleTimeout\"}`")
def _(_):
    with EphemeralServer() as server:
        with server.stack.peer() as peer:
            server.stack.accepted(peer=peer)
            server.clock.forward(200)
            server.stack.accepted(peer=peer)
            server.clock.forward(301)
            peer.until(lambda: peer.is_closed)
            expect_goaway(peer, '{"reason":"IdleTimeout"}')


def expect_goaway(peer, debug):
    expect(peer.goaways and peer.goaways[-1]["code"] == 0 and peer.goaways[-1]["debug"] == debug, peer.goaways)


@case("T-31", "certificate of the other environment",
      "403 `BadCertificateEnvironment` for each request; the connection stays open",
      note="Apple was observed to send GOAWAY instead, which tells developers less")
def _(stack):
    with stack.peer(certificate=stack["APNS_CLIENT_CERT_ENV"]) as peer:
        for _ in range(2):
            exchange = stack.push(peer=peer, without=["authorization"])
            expect((exchange.status, exchange.reason) == (403, "BadCertificateEnvironment"), exchange)
        expect(not peer.goaways and not peer.is_closed, peer.goaways)


@case("T-32", "more concurrent streams than allowed, after the SETTINGS ACK",
      "RST_STREAM with REFUSED_STREAM for the excess stream; the others are answered",
      note="Apple was observed to send GOAWAY with REFUSED_STREAM; RFC 9113 uses RST_STREAM")
def _(stack):
    with stack.peer() as peer:
        stack.accepted(peer=peer)
        limit = peer.stream_limit
        peer.disregard_stream_limit()
        open_ones = [peer.open(stack.fields(), b"{", ends=False) for _ in range(limit)]
        surplus = peer.wait(peer.open(stack.fields(), b"{", ends=False))
        expect(surplus.reset == REFUSED_STREAM and not surplus.status, surplus)
        for exchange in open_ones:
            peer.send_body(exchange, b"}")
        peer.wait_all(open_ones)
        for exchange in open_ones:
            expect_answer(stack.checked(exchange), ACCEPTED)
        expect(not peer.goaways, peer.goaways)


@case("T-33", "3000 refusals to a client that never sends WINDOW_UPDATE",
      "every status arrives, and later 200s, too: flow control does not delay HEADERS")
def _(stack):
    with stack.peer(widens_window=False) as peer:
        exchanges = []
        for _ in range(30):
            exchanges += [peer.open(stack.fields(token=UNKNOWN_TOKEN), ALERT) for _ in range(100)]
            peer.until(lambda: all(exchange.status for exchange in exchanges[-100:]))
        got = [exchange.status for exchange in exchanges]
        expect(got == [400] * 3000, f"{got.count(400)} of 3000")
        starved = sum(not exchange.is_over for exchange in exchanges)
        expect(starved > 0, "all bodies, which do not fit the window")
        stack.accepted(peer=peer)


@case("T-34", "1000 refusals on one connection", "MAX_CONCURRENT_STREAMS stays 1000, and the connection stays open",
      note="Apple lowers the limit after failures, and was observed to close the connection eventually")
def _(stack):
    with stack.peer() as peer:
        for _ in range(10):
            exchanges = [peer.open(stack.fields(token=UNKNOWN_TOKEN), ALERT) for _ in range(100)]
            peer.wait_all(exchanges)
        expect(peer.stream_limit == 1000 and not peer.goaways, peer.settings)
        stack.accepted(peer=peer)
