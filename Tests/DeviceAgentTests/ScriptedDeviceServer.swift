// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// A server of the device API in Python, on real TLS, HTTP and WebSocket.
///
/// Unlike the real server, it fails on command. The device's acknowledgements are in `requests` as `POST /v1/acks`,
/// however they arrived.
final class ScriptedDeviceServer {
    let url: String
    let caFile: String
    let serverKeyFile: String
    /// The client certificate that the server trusts, if it requires one.
    let clientCertificateFile: String
    let clientKeyFile: String
    private let process: ForkedScript
    private let files: TemporaryDirectory

    init(wantsCertificate: Bool = false) async throws {
        files = try TemporaryDirectory()
        let script = try files.write(Self.script, to: "server.py")
        process = try await ForkedScript(script, [files.path])
        url = "https://localhost:\(try await process.outputLine())"
        (caFile, serverKeyFile) = (files.path(of: "cert.pem"), files.path(of: "key.pem"))
        (clientCertificateFile, clientKeyFile) = (files.path(of: "client.pem"), files.path(of: "client-key.pem"))
        if wantsCertificate { try await wantCertificate() }
    }

    /// Makes the server refuse connections from devices without the client certificate from now on.
    func wantCertificate() async throws { try await tell(["do": "certificate"]) }

    /// Sends an event on every open stream, with or without an ID.
    func push(event: String, id: Int64? = 0, data: String) async throws {
        let idLine = id.map { "id: \($0)\n" } ?? ""
        try await tell(["do": "push", "event": event, "id": idLine, "data": data])
    }

    /// Sends a notification on every open stream.
    ///
    /// - Parameters:
    ///   - number: The number of the notification, from which its unique ID is made.
    ///   - sequence: The sequence number; nil for `number`.
    ///   - payload: The payload; nil for an alert with a unique text.
    /// - Throws: The error of the script.
    func push(_ number: Int, sequence: Int64? = nil, payload: String? = nil) async throws {
        let payload = payload ?? #"{"aps":{"alert":"Hello \#(number)"}}"#
        let sequence = sequence ?? Int64(number)
        let id = String(repeating: "0", count: 12 - "\(number)".utf8.count) + "\(number)"
        try await push(
            event: "notification", id: sequence,
            data: #"{"id":\#(sequence),"unique-id":"00000000-0000-4000-8000-\#(id)","topic":"org.example.Mail","#
                + #""apns-id":"A","accepted-at":\#(number),"payload":\#(payload)}"#)
    }

    /// Ends every open stream without an error.
    func endStreams() async throws { try await tell(["do": "end"]) }

    /// Sends a broadcast of a channel on every open stream.
    func broadcast(
        _ number: Int, channel: String, sequence: Int64 = 0, payload: String = #"{"aps":{"alert":"Goal"}}"#
    ) async throws {
        let id = String(repeating: "0", count: 12 - "\(number)".utf8.count) + "\(number)"
        try await push(
            event: "notification", id: sequence,
            data: #"{"id":\#(sequence),"unique-id":"00000000-0000-4000-8000-\#(id)","#
                + #""topic":"org.example.Mail.push-type.liveactivity","apns-id":"A","push-type":"liveactivity","#
                + #""channel-id":"\#(channel)","accepted-at":\#(number),"payload":\#(payload)}"#)
    }

    /// Refuses the next requests of a path, or of a method and a path, with a status and a reason, and with a `Retry-After` field if one is given.
    func fail(
        _ path: String, status: Int, word: String = "Ordered", count: Int = 1, retryAfter: String = ""
    ) async throws {
        try await tell([
            "do": "fail", "path": path, "status": "\(status)", "word": word, "count": "\(count)", "after": retryAfter,
        ])
    }

    /// Expires every registration, so that the same request returns another device token without subscriptions.
    func expireRegistrations() async throws { try await tell(["do": "expire"]) }

    /// Sets the answer to `GET /v1/authorities`.
    func setAuthorities(_ body: String) async throws { try await tell(["do": "authorities", "set": body]) }

    /// Returns the channels that an app is subscribed to.
    func channels(of topic: String = "org.example.Mail") async throws -> Set<String> {
        try await tell(["do": "list", "topic": topic])
        let line = process.output.split(separator: "\n").last { $0.hasPrefix("done [") } ?? ""
        return Set(line.dropFirst("done [".count).dropLast().split(separator: " ").map(String.init))
    }

    /// Replaces the channels that an app is subscribed to.
    func setChannels(_ channels: [String], of topic: String = "org.example.Mail") async throws {
        try await tell(["do": "channels", "topic": topic, "channels": channels.joined(separator: " ")])
    }

    /// The requests so far, as `METHOD path body`.
    var requests: [String] {
        process.output.split(separator: "\n").dropFirst().map(String.init).filter { !$0.hasPrefix("done") }
    }

    func requests(_ prefix: String) -> [String] { requests.filter { $0.hasPrefix(prefix) } }

    func kill() async throws { try await process.killNow() }

    /// Stops answering without closing anything.
    func freeze() async throws { try await process.freeze() }
    func thaw() { process.send(SIGCONT) }

    /// Sends a command and waits until the server has executed it.
    private func tell(_ command: [String: String]) async throws {
        let doneCount = process.output.components(separatedBy: "\ndone").count
        try process.write(String(decoding: try JSONEncoder().encode(command), as: UTF8.self) + "\n")
        try await eventually("\(command) was followed") {
            process.output.components(separatedBy: "\ndone").count > doneCount
        }
    }

    private static let script = #"""
        import base64, hashlib, http.server, json, queue, ssl, struct, subprocess, sys, threading, urllib.parse

        folder = sys.argv[1]

        def certify(key, certificate):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", folder + key, "-out", folder + certificate, "-subj", "/CN=localhost", "-days", "2",
                "-addext", "subjectAltName=DNS:localhost"], check=True, stderr=subprocess.DEVNULL)

        certify("/key.pem", "/cert.pem")
        lock, streams, failures = threading.Lock(), [], {}
        channels, generation, authorities = {}, [0], ["{}"]

        def say(line):
            with lock:
                sys.stdout.write(line + "\n")
                sys.stdout.flush()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
                say(" ".join([self.command, self.path, body]).strip())
                status, word, after = self.failure(self.path)
                if not status: status, word, after = self.failure(self.command + " " + self.path)
                if status:
                    # A proxy's page has no word.
                    page = word.encode() if word.startswith("<") else None
                    data = page or json.dumps({"error": word, "detail": "a \x1b[31mtest wants it" + "!" * 60000}).encode()
                    return self.give(status, data, after)
                if self.path == "/v1/stream":
                    return self.socket() if self.headers.get("upgrade") else self.stream()
                if self.path == "/v1/devices":
                    return self.give(201, json.dumps(
                        {"device_id": "00000000000000ab", "device_secret": "s3cret"}).encode())
                if self.path == "/v1/authorities" and self.command == "GET":
                    return self.give(200, authorities[0].encode())
                parts = self.path.split("/")
                if self.path.startswith("/v1/apps/") and len(parts) > 4:
                    return self.subscriptions(parts[3], parts[5:])
                if self.path.startswith("/v1/apps/") and self.command == "PUT":
                    topic = self.path[9:]
                    environment = json.loads(body)["environment"] if body else "production"
                    token = (f"{generation[0]:02x}" + (topic + environment).encode()[::-1].hex() * 64)[:64]
                    return self.give(200, json.dumps({"topic": topic, "device_token": token}).encode())
                self.give(204, b"")

            def failure(self, path):
                with lock:
                    failing = failures.get(path, [])
                    return failing.pop() if failing else (None, None, None)

            def subscriptions(self, topic, rest):
                with lock:
                    mine = channels.setdefault(topic, [])
                    if not rest:
                        return self.give(200, json.dumps({"channels": mine}).encode())
                    channel = urllib.parse.unquote(rest[0])
                    if channel in mine: mine.remove(channel)
                    if self.command == "PUT": mine.append(channel)
                self.give(204, b"")

            def give(self, status, data, after=None):
                self.send_response(status)
                if after: self.send_header("retry-after", after)
                if status != 204:
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def stream(self):
                events = queue.Queue()
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                self.chunk(b": \n\n")
                with lock: streams.append(events)
                try:
                    while True:
                        command = events.get()
                        if command is None: break
                        self.chunk(f"event: {command['event']}\n{command['id']}data: {command['data']}\n\n".encode())
                        say("done")
                    self.wfile.write(b"0\r\n\r\n")
                    self.close_connection = True
                except OSError:
                    pass
                finally:
                    with lock:
                        if events in streams: streams.remove(events)
                    say("done")

            def socket(self):
                key = self.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
                accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
                self.wfile.write(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    f"Sec-WebSocket-Protocol: posthorn.v1\r\nSec-WebSocket-Accept: {accept}\r\n\r\n").encode())
                events, self.input, self.close_connection = queue.Queue(), b"", True
                # One thread reads and writes: an OpenSSL connection takes no two at once.
                self.connection.settimeout(0.01)
                with lock: streams.append(events)
                try:
                    while self.tell(events) and self.hear(): pass
                except OSError:
                    pass
                finally:
                    with lock: streams.remove(events)
                    say("done")

            def tell(self, events):
                while not events.empty():
                    command = events.get()
                    if command is None: return self.frame(8, b"\x03\xe9")
                    self.frame(1, f'{{"{command["event"]}":{command["data"]}}}'.encode())
                    say("done")
                return True

            def hear(self):
                try:
                    data = self.connection.recv(65536)
                except TimeoutError:
                    return True
                self.input += data
                while len(self.input) >= 6:
                    length, at = self.input[1] & 127, 2
                    if length == 126: length, at = struct.unpack(">H", self.input[2:4])[0], 4
                    if len(self.input) < at + 4 + length: break
                    mask, body = self.input[at:at + 4], self.input[at + 4:at + 4 + length]
                    opcode, self.input = self.input[0] & 15, self.input[at + 4 + length:]
                    body = bytes(byte ^ mask[place % 4] for place, byte in enumerate(body))
                    if opcode == 8:
                        say("closed " + str(struct.unpack(">H", body[:2])[0]))
                        return self.frame(8, body)
                    if opcode == 9: self.frame(10, body)
                    if opcode == 1:
                        say("POST /v1/acks " + body.decode())
                        status, _, _ = self.failure("/v1/acks")
                        if status: return self.frame(8, struct.pack(">H", 1008 if status < 500 else 1011))
                return bool(data)

            def frame(self, opcode, data):
                length = bytes([len(data)]) if len(data) < 126 else struct.pack(
                    ">BH" if len(data) < 65536 else ">BQ", 126 if len(data) < 65536 else 127, len(data))
                self.connection.sendall(bytes([0x80 | opcode]) + length + data)

            def chunk(self, data):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()

            do_GET = do_POST = do_PUT = do_DELETE = answer
            def log_message(self, *arguments): pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder + "/cert.pem", folder + "/key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        say(str(server.server_port))
        for line in sys.stdin:
            command = json.loads(line)
            if command["do"] == "fail":
                with lock:
                    failure = (int(command["status"]), command["word"], command["after"])
                    failures[command["path"]] = [failure] * int(command["count"])
                say("done")
                continue
            if command["do"] == "certificate":
                certify("/client-key.pem", "/client.pem")
                context.load_verify_locations(folder + "/client.pem")
                context.verify_mode = ssl.CERT_REQUIRED
                say("done")
                continue
            if command["do"] == "authorities":
                authorities[0] = command["set"]
                say("done")
                continue
            if command["do"] == "expire":
                with lock:
                    generation[0] += 1
                    channels.clear()
                say("done")
                continue
            if command["do"] == "list":
                with lock: mine = " ".join(channels.get(command["topic"], []))
                say(f"done [{mine}]")
                continue
            if command["do"] == "channels":
                with lock: channels[command["topic"]] = command["channels"].split()
                say("done")
                continue
            with lock: targets = list(streams)
            if not targets: say("done")
            for events in targets: events.put(command if command["do"] == "push" else None)
        """#
}
