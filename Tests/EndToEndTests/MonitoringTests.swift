// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// Scrapes a server's port for monitoring, also with a real Prometheus.
    struct MonitoringTests {
        private static let topic = "org.example.Mail"
        private static let options = ["--metrics-listen", "127.0.0.1:0"]

        // MARK: Metrics

        @Test func `the metrics count what the server did, and measure how long it took`() async throws {
            let server = try await InstalledServer(options: Self.options)
            let target = try await server.addApp(Self.topic)
            let device = try await PlainDevice(server, target)
            let port = try await MonitoringPort(of: server)
            let stream = try RunningProcess(
                try RepositoryPaths.tool("curl"),
                [
                    "-sSN", "--cacert", server.authorityFile, "-H", "authorization: Bearer \(device.secret)",
                    "\(server.url)/v1/stream",
                ])
            try await eventually("the device is connected", evidence: { stream.transcript }) {
                try await port.metrics()["posthorn_devices_connected"] == 1
            }
            let provider = try await APNsProvider(target)
            let good = SentNotification(token: device.token, payload: #"{"aps":{"alert":"x"}}"#)
            let bad = SentNotification(token: String(repeating: "ab", count: 32), payload: good.payload)
            let sent = try await provider.send([good, good, good, bad])
            #expect(sent.map(\.status) == [200, 200, 200, 400])
            try await eventually("three are delivered", evidence: { stream.transcript }) {
                stream.output.matches(of: /(?m)^id: ?\d+/).count == 3
            }
            let ids = stream.output.matches(of: /(?m)^id: ?(\d+)/).compactMap { Int64($0.1) }
            try await device.report(ids.map { ($0, "shown") }, to: target)
            // With PostgreSQL, a worker reads the numbers of rows every few seconds.
            try await eventually("the numbers of rows are read") {
                let metrics = try await port.metrics()
                return metrics["posthorn_devices"] == 1 && metrics["posthorn_notifications_pending"] == 0
                    && metrics["posthorn_apps"] == 1
            }
            let metrics = try await port.metrics()
            let expected = [
                "posthorn_notifications_accepted_total": 3.0,
                #"posthorn_notifications_ended_total{reason="acknowledged"}"#: 3,
                #"posthorn_outcomes_total{outcome="shown"}"#: 3, #"posthorn_outcomes_total{outcome="viewed"}"#: 0,
                #"posthorn_rejections_total{reason="BadDeviceToken"}"#: 1,
                #"posthorn_rejections_total{reason="Shutdown"}"#: 0,
                #"posthorn_refusals_total{principal="device",cause="streams"}"#: 0,
                "posthorn_accept_duration_seconds_count": 3, "posthorn_delivery_duration_seconds_count": 3,
                #"posthorn_accept_duration_seconds_bucket{le="+Inf"}"#: 3,
                #"posthorn_connections{kind="device"}"#: 1, "posthorn_devices_cut_off": 0,
                "posthorn_store_disk_full": 0, "posthorn_webhook_lag_seconds": 0,
            ]
            for (name, value) in expected { #expect(metrics[name] == value, "\(name)") }
            let positive = [
                "posthorn_acknowledgement_duration_seconds_count", "posthorn_commit_duration_seconds_count",
                "posthorn_store_busy_seconds_total", "posthorn_store_size_bytes", "posthorn_connections_opened_total",
                "posthorn_certificate_expiry_timestamp_seconds", "process_start_time_seconds", "process_open_fds",
                "process_resident_memory_bytes", "process_cpu_seconds_total",
            ]
            for name in positive { #expect(metrics[name] ?? 0 > 0, "\(name)") }
            let text = try await port.get("/metrics").body
            for secret in [Self.topic, device.token, device.id, target.keyID, target.teamID, server.files.path] {
                #expect(!text.contains(secret))
            }
        }

        @Test func `the send API's refusals are counted by reason, and its accepted requests are measured`()
            async throws
        {
            let server = try await InstalledServer(options: Self.options)
            let target = try await server.addApp(Self.topic)
            _ = try await PlainDevice(server, target)
            let port = try await MonitoringPort(of: server)
            let made = try await server.posthorn("token", "create", "--app", Self.topic, "--json").output
            let token = try #require(made.firstMatch(of: /"token": ?"([^"]+)"/)?.1)
            SecretWords.add("a send token", String(token))
            let bearer = ["-H", "authorization: Bearer \(token)"]
            func send(_ path: String, _ options: [String]) async throws -> String {
                try await RunningProcess.run(
                    try RepositoryPaths.tool("curl"),
                    [
                        "-sS", "--cacert", server.authorityFile, "-o", "/dev/null", "-w", "%{http_code}",
                        "\(server.url)\(path)",
                    ] + options
                ).succeeded().output
            }
            let (own, json) = ("/v1/send/\(Self.topic)", ["-H", "content-type: application/json"])
            #expect(try await send(own, bearer + ["-d", "one"]) == "200")
            #expect(try await send("/\(Self.topic)", bearer + ["-d", "two"]) == "200")
            #expect(try await send("/message", ["-H", "x-gotify-key: \(token)", "-d", "message=three"]) == "200")
            #expect(try await send(own, ["-d", "x"]) == "401")
            #expect(try await send(own, bearer + ["-X", "DELETE"]) == "405")
            #expect(try await send("/v1/send/org.example.Other", bearer + ["-d", "x"]) == "403")
            #expect(try await send("\(own)/alertmanager", bearer + json + ["-d", "no JSON"]) == "400")
            #expect(try await send("\(own)/grafana", bearer + json + ["-d", "["]) == "400")
            #expect(try await send(own, bearer + ["-d", ""]) == "400")
            #expect(try await send(own, bearer + ["-d", String(repeating: "x", count: 5000)]) == "413")
            let metrics = try await port.metrics()
            let counts = [
                "Unauthorized": 1.0, "MethodNotAllowed": 1, "WrongApp": 1, "BadRequest": 2, "PayloadEmpty": 1,
                "PayloadTooLarge": 1, "TooMany": 0,
            ]
            for (reason, count) in counts {
                #expect(metrics["posthorn_rejections_total{reason=\"\(reason)\"}"] == count, "\(reason)")
            }
            #expect(metrics["posthorn_accept_duration_seconds_count"] == 3)
        }

        @Test func `the violations of devices on WebSockets are counted by cause`() async throws {
            let server = try await InstalledServer(options: Self.options)
            let target = try await server.addApp(Self.topic)
            let port = try await MonitoringPort(of: server)
            let device = try WebSocketDevice(server, secret: try await PlainDevice(server, target).secret)
            let acknowledgements = Array(repeating: #"{"id":1,"outcome":"shown"}"#, count: 1001).joined(separator: ",")
            let violations: [(opcode: Int, text: String)] = [
                (2, "binary"), (1, "{}"), (1, String(repeating: " ", count: 65_537)),
                (1, #"{"acks":[\#(acknowledgements)]}"#),
            ]
            for violation in violations {
                #expect(try await device.connect().status == 101)
                try await device.frame(violation.opcode, violation.text)
                #expect(try await device.next().opcode == 8)
            }
            #expect(try await device.connect().status == 101)
            // Empty pings, each with a mask of zeros.
            try await device.send(String(repeating: "898000000000", count: 300))
            var frame = try await device.next()
            while frame.opcode == 10 { frame = try await device.next() }
            #expect(frame.opcode == 8 && frame.code == 1008, "\(frame)")
            let metrics = try await port.metrics()
            for cause in ["frame", "message", "size", "acknowledgements", "glitches"] {
                #expect(metrics["posthorn_websocket_failures_total{cause=\"\(cause)\"}"] == 1, "\(cause)")
            }
            for cause in ["unread", "silence"] {
                #expect(metrics["posthorn_websocket_failures_total{cause=\"\(cause)\"}"] == 0, "\(cause)")
            }
            #expect(metrics["posthorn_websocket_glitches_total"] ?? 0 >= 200)
        }

        @Test func `promtool accepts the metrics, and OpenMetrics is sent to a client that prefers it`() async throws {
            let server = try await EphemeralServer(options: Self.options)
            let port = try await MonitoringPort(of: server.process)
            let plain = try await port.get("/metrics")
            #expect(plain.status == 200 && plain.head.contains("content-type: text/plain; version=0.0.4"))
            let check = try await RunningProcess.run(
                try RepositoryPaths.tool("promtool"), ["check", "metrics"], input: plain.body)
            #expect(check.exit == .code(0) && check.output + check.errorOutput == "", "\(check)")
            let open = try await port.get(
                "/metrics", ["-H", "accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5"])
            #expect(open.head.contains("content-type: application/openmetrics-text; version=1.0.0; charset=utf-8"))
            #expect(open.body.hasSuffix("\n# EOF\n") && open.body.contains("# TYPE posthorn_build info\n"))
        }

        @Test func `a Prometheus with the example configuration collects the metrics and loads the alerts`()
            async throws
        {
            let server = try await EphemeralServer(options: Self.options)
            let port = try await MonitoringPort(of: server.process)
            let prometheus = try await Prometheus(scraping: port.address)
            try await eventually("the server is up", evidence: { prometheus.transcript }) {
                try await prometheus.value(of: #"up{job="posthorn"}"#) == 1
            }
            let provider = try await APNsProvider(server.target)
            let notification = SentNotification(token: server.topic.token, payload: #"{"aps":{"alert":"x"}}"#)
            #expect(try await provider.send(Array(repeating: notification, count: 5)).allSatisfy { $0.status == 200 })
            try await eventually("the counter arrives", evidence: { prometheus.transcript }) {
                try await prometheus.value(of: "posthorn_notifications_accepted_total") == 5
            }
            let count = "histogram_quantile(1, posthorn_accept_duration_seconds_bucket) > 0"
            #expect(try await prometheus.value(of: count) != nil)
            #expect(try await prometheus.value(of: "count(posthorn_build_info)") == 1)
            let rules = try await prometheus.get("/api/v1/rules")
            #expect(rules.contains("PosthornDown") && !rules.contains(#""health":"err""#), "\(rules)")
            let queries = try DocumentedQueries()
            try await queries.expectAnswers(to: queries.ofServer, from: prometheus)
        }

        // MARK: Health

        @Test func `the server is ready until its certificate expires, and answers all the same`() async throws {
            let files = try TemporaryDirectory()
            let (certificate, key) = (files.path(of: "server.pem"), files.path(of: "server.key"))
            let openssl = try RepositoryPaths.tool("openssl")
            try await RunningProcess.run(
                openssl,
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=test", "-out", certificate, "-keyout", key,
                ]
            ).succeeded()
            let server = try await InstalledServer(
                options: Self.options + ["--certificate-file", certificate, "--private-key-file", key])
            let port = try await MonitoringPort(of: server)
            #expect(try await port.get("/readyz").status == 200)
            let served = try await port.metrics()["posthorn_certificate_expiry_timestamp_seconds"]
            #expect(served ?? 0 > Date.now.timeIntervalSince1970)
            try await RunningProcess.run(
                openssl, ["x509", "-in", certificate, "-signkey", key, "-days", "-1", "-out", certificate]
            ).succeeded()
            // The server still presents the certificate that it has loaded, even after a failed reload.
            let right = readText(key)
            try files.write("not a key", to: "server.key")
            server.process.now.send(SIGHUP)
            try await eventually("the reload fails", evidence: { server.process.now.transcript }) {
                server.process.now.errorOutput.contains("event=certificate_not_reloaded")
            }
            #expect(try await port.get("/readyz").status == 200)
            #expect(try await port.metrics()["posthorn_certificate_expiry_timestamp_seconds"] == served)
            try files.write(right, to: "server.key")
            server.process.now.send(SIGHUP)
            try await eventually("the reload succeeds", evidence: { server.process.now.transcript }) {
                server.process.now.errorOutput.contains("event=certificate_expired")
            }
            let late = try await port.get("/readyz")
            #expect(late.status == 503 && late.body.hasPrefix("The server's certificate expired at "), "\(late)")
            #expect(try await port.get("/healthz").status == 200)
            let expiry = try await port.metrics()["posthorn_certificate_expiry_timestamp_seconds"]
            #expect(expiry ?? .infinity < Date.now.timeIntervalSince1970)
        }

        // MARK: Safety

        @Test func `the port only answers GET and HEAD of three paths, over HTTP/1.1`() async throws {
            let server = try await EphemeralServer(options: Self.options)
            let port = try await MonitoringPort(of: server.process)
            let head = try await port.get("/metrics", ["--head"])
            #expect(head.status == 200 && head.body.isEmpty)
            let post = try await port.get("/metrics", ["-d", "x"])
            #expect(post.status == 405 && post.head.contains("allow: GET, HEAD"))
            for path in ["/", "/v1/status", "/metrics/", "/3/device/x"] {
                #expect(try await port.get(path).status == 404, "\(path)")
            }
            #expect(try await port.get("/healthz?x=1").status == 200)
            let http2 = try await RunningProcess.run(
                try RepositoryPaths.tool("curl"), ["-sS", "--http2-prior-knowledge", "http://\(port.address)/healthz"])
            #expect(http2.exit != .code(0))
        }

        @Test func `a flood of requests and connections is limited, and the newest connection is served`() async throws
        {
            let server = try await EphemeralServer(options: Self.options)
            let port = try await MonitoringPort(of: server.process)
            let holder = try await IdleConnections(count: 40, to: port.address)
            #expect(try await port.get("/healthz").status == 200)
            try await eventually("the oldest are closed") { try await holder.closedCount() >= 24 }
            let flood = try await RunningProcess.run(
                try RepositoryPaths.tool("curl"),
                ["-sS", "-o", "/dev/null", "-w", "%{http_code}\n", "http://\(port.address)/readyz?[1-200]"])
            let statuses = Set(flood.output.split(separator: "\n").map(String.init))
            #expect(statuses == ["200", "429"], "\(statuses)")
            #expect(try await port.get("/healthz").status == 200)
        }
    }
}

/// The port for monitoring of a server.
struct MonitoringPort {
    let address: String

    init(of server: InstalledServer) async throws { try await self.init(of: server.process.now) }

    /// Finds the port in the log.
    init(of process: RunningProcess) async throws {
        address = try await eventualValue("the server logs its port", evidence: { process.transcript }) {
            process.errorOutput.firstMatch(of: /event=listening .*metrics=http:\/\/(\S+)\/metrics/)
                .map { String($0.1) }
        }
    }

    struct Answer {
        let status: Int
        let head: String
        let body: String
    }

    func get(_ path: String, _ options: [String] = []) async throws -> Answer {
        let result = try await RunningProcess.run(
            try RepositoryPaths.tool("curl"), ["-sS", "-i"] + options + ["http://\(address)\(path)"]
        ).succeeded()
        let parts = result.output.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        return Answer(
            status: Int(parts[0].split(separator: " ").dropFirst().first ?? "") ?? 0, head: String(parts[0]),
            body: parts.count > 1 ? String(parts[1]) : "")
    }

    /// Returns the values by name and labels.
    func metrics() async throws -> [String: Double] {
        let lines = try await get("/metrics").body.split(separator: "\n").filter { !$0.hasPrefix("#") }
        return Dictionary(
            lines.compactMap { line in
                guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                    return nil
                }
                return (String(line[..<space]), value)
            }
        ) { $1 }
    }
}

/// Connections that send nothing.
private final class IdleConnections: Sendable {
    private let script: RunningProcess

    init(count: Int, to address: String) async throws {
        let code = """
            import select, socket, sys
            host, port = sys.argv[1].split(":")
            sockets = [socket.create_connection((host, int(port))) for _ in range(int(sys.argv[2]))]
            print("open", flush=True)
            for line in sys.stdin:
                print(len(select.select(sockets, [], [], 0)[0]), flush=True)
            """
        script = try RunningProcess(
            RepositoryPaths.python, ["-c", code, address, "\(count)"], hasInput: true)
        _ = try await script.outputLine()
    }

    /// Returns how many connections the server has closed.
    func closedCount() async throws -> Int {
        let answers = script.output.split(separator: "\n").count
        try script.write("\n")
        return Int(try await script.outputLine(answers)) ?? 0
    }
}
