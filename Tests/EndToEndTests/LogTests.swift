// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Checks the server's log without a reader, under a flood, and about refused peers.
    struct LogTests {
        /// A FIFO that is open for reading and never read.
        private final class UnreadPipe: Sendable {
            let path: String
            private let files: TemporaryDirectory
            private let descriptor: Int32

            init() throws {
                files = try TemporaryDirectory()
                path = files.path(of: "log")
                let code = unsafe mkfifo(path, 0o600)
                try #require(code == 0)
                descriptor = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
                try #require(descriptor >= 0)
            }

            deinit { close(descriptor) }

            var isFull: Bool {
                var wish = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                return unsafe poll(&wish, 1, 0) == 0
            }
        }

        /// Opens a device's stream repeatedly, and each stream ends the previous one.
        private func floodStreams(_ server: InstalledServer, _ device: PlainDevice, count: Int) throws -> RunningProcess
        {
            try RunningProcess(
                try RepositoryPaths.tool("curl"),
                [
                    "-sSN", "-Z", "--parallel-max", "20", "--cacert", server.authorityFile, "-o", "/dev/null", "-w",
                    "stream %{http_code}\\n",
                    "-H", "authorization: Bearer \(device.secret)", "\(server.url)/v1/stream#[1-\(count)]",
                ])
        }

        @Test func `a server whose standard error is not read keeps serving, and stops normally`() async throws {
            let pipe = try UnreadPipe()
            let server = try await InstalledServer(
                options: ["--log-level", "debug", "--device-streams", "0"], errorPath: pipe.path)
            let target = try await server.addApp("org.example.Mail")
            let device = try await PlainDevice(server, target)
            let flood = try floodStreams(server, device, count: 2000)
            try await eventually("the pipe is full") { pipe.isFull }
            // The loops share out the connections, so each loop must still serve.
            for number in 0..<8 {
                let provider = try await APNsProvider(target)
                let sent = try await provider.send(
                    SentNotification(token: device.token, payload: #"{"aps":{"alert":"number \#(number)"}}"#))
                #expect(sent.status == 200)
            }
            flood.send(SIGKILL)
            server.process.now.send(SIGTERM)
            #expect(try await server.process.now.waitForExit() == .code(0))
        }

        @Test func `a flood of one device's streams makes a few lines, which count the rest`() async throws {
            let server = try await InstalledServer(options: ["--log-level", "info", "--device-streams", "0"])
            let target = try await server.addApp("org.example.Mail")
            let device = try await PlainDevice(server, target)
            let flood = try floodStreams(server, device, count: 500)
            try await eventually("most streams were opened", evidence: { flood.transcript }) {
                flood.output.matches(of: /stream 200/).count > 300
            }
            flood.send(SIGKILL)
            server.process.now.send(SIGTERM)
            #expect(try await server.process.now.waitForExit() == .code(0))
            let log = server.process.now.errorOutput
            let lines = log.split(separator: "\n").filter { $0.contains("event=device_") }
            #expect(lines.count <= 4, "\(lines.prefix(10))")
            let count = log.matches(of: /event=log_lines_left_out of=device_connected count=([0-9]+)/)
                .compactMap { Int($0.1) }.reduce(0, +)
            #expect(count >= 300, "\(log)")
        }

        @Test func `a refused provider, code or device is logged with its address and its proven identity`()
            async throws
        {
            let server = try await InstalledServer(options: ["--log-level", "info"])
            let target = try await server.addApp("org.example.Mail")
            let client = try await HTTP2Client(target)
            for _ in 0..<3 {
                let request = ProviderRequest(
                    token: String(repeating: "0", count: 64), topic: target.topic,
                    providerToken: try await client.providerToken(foreignKey: true))
                #expect(try await client.send(request).status == 403)
            }
            let fields = [[":method", "POST"], [":scheme", "https"], [":authority", "push.example"]]
            let body = #"{"code":"0000-0000-0000","name":"test","platform":"linux"}"#
            #expect(try await client.request(fields + [[":path", "/v1/devices"]], body: body).status == 403)
            let unknown = [[":path", "/v1/acks"], ["authorization", "Bearer unknown-secret"]]
            #expect(try await client.request(fields + unknown, body: #"{"acks":[]}"#).status == 401)
            server.process.now.send(SIGTERM)
            #expect(try await server.process.now.waitForExit() == .code(0))
            let log = server.process.now.errorOutput
            for line in [
                "warning event=provider_refused reason=InvalidProviderToken source=127.0.0.1 principal=stranger detail=",
                "warning event=enrolment_refused reason=BadEnrolmentCode source=127.0.0.1 principal=stranger",
                "info event=device_refused reason=Unauthorized source=127.0.0.1 principal=stranger",
                "warning event=log_lines_left_out of=provider_refused count=2",
            ] { #expect(log.contains(line), "\(line) in \(log)") }
        }
    }
}
