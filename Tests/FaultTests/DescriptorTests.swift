// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// Checks a server without free file descriptors, or on a kernel without memory for a connection.
    struct DescriptorTests {
        /// The limit of open files of a server that runs out of them.
        private static let descriptorCountMax = 48
        private let site: ServerSite

        init() async throws { site = try await ServerSite() }

        /// Opens connections that never send anything.
        private func connect(_ count: Int, port: UInt16) -> [Int32] {
            (0..<count).map { _ in
                let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = port.bigEndian
                address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                _ = unsafe withUnsafePointer(to: &address) { pointer in
                    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                        unsafe Glibc.connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
                return descriptor
            }
        }

        /// Returns the CPU time of a process in hundredths of a second.
        private func ticks(_ process: RunningProcess) throws -> Int {
            let text = readText("/proc/\(process.identifier)/stat")
            let fields = try #require(text.split(separator: ") ").last?.split(separator: " "), "\(text)")
            try #require(fields.count > 12, "\(text)")
            return try #require(Int(fields[11]), "\(text)") + #require(Int(fields[12]), "\(text)")
        }

        private func limitDescriptors(of process: RunningProcess, to count: Int) async throws {
            try await RunningProcess.run(
                try RepositoryPaths.tool("prlimit"),
                ["--pid", "\(process.identifier)", "--nofile=\(count):\(Self.descriptorCountMax)"]
            ).succeeded()
        }

        /// Returns the number that the process's next descriptor would have.
        private func lowestUnusedDescriptor(of process: RunningProcess) throws -> Int {
            let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.identifier)/fd")
            let used = Set(names.compactMap { Int($0) })
            return try #require((0..<Self.descriptorCountMax).first { !used.contains($0) }, "\(names)")
        }

        @Test(.tags(.slow))
        func `idle strangers are closed when all connections or all descriptors are taken`() async throws {
            for options in [["--connections", "60"], ["--connections", "1000"]] {
                let server = try site.start(
                    [try RepositoryPaths.tool("prlimit"), "--nofile=100:100"], options: options)
                let url = try await server.url()
                let port = try #require(URL(string: url)?.port)
                let strangers = try StrangerPeers(site.target(port: port))
                try await strangers.connect(130)
                #expect(try await strangers.openCount() < 100)
                for round in 0..<5 {
                    try await strangers.ping()
                    #expect(try await site.send("text-\(round)", to: url) == 200)
                }
                #expect(try await site.posthorn("status").output.contains("closed to free capacity"))
                try await server.stop()
            }
        }

        @Test(.tags(.slow))
        func `without descriptors open connections are served, no loop spins, and the server recovers`() async throws {
            let server = try site.start(
                [try RepositoryPaths.tool("prlimit"), "--nofile=\(Self.descriptorCountMax)"],
                options: ["--connections", "1000"])
            let url = try await server.url()
            let stream = try site.openStream(url)
            let port = try #require(URL(string: url)?.port.flatMap(UInt16.init(exactly:)))
            let provider = try await HTTP2Client(site.target(port: Int(port)))
            let token = try await provider.providerToken()
            func send(_ text: String) async throws -> Int? {
                try await provider.request(
                    [
                        [":method", "POST"], [":scheme", "https"], [":authority", "push.example"],
                        [":path", "/3/device/\(site.token)"], ["authorization", "bearer \(token)"],
                        ["apns-topic", ServerSite.topic], ["apns-push-type", "alert"],
                    ], body: #"{"aps":{"alert":{"body":"\#(text)"}}}"#
                ).status
            }
            #expect(try await send("before") == 200)
            // Closing the crowd's connections would make room, so none of them may get in.
            try await limitDescriptors(of: server.process, to: lowestUnusedDescriptor(of: server.process))
            let crowd = connect(100, port: port)
            try await eventually("it has no descriptors", evidence: { server.process.transcript }) {
                server.process.errorOutput.contains("descriptors_exhausted")
            }
            let before = try ticks(server.process)
            #expect(before > 0, "it has computed since its start")
            #expect(try await send("meanwhile") == 200)
            try await eventually("it is delivered") { stream.texts.contains("meanwhile") }
            // A listener that spins would use CPU time continuously.
            try await Task.sleep(for: .seconds(1) * Patience.factor)
            #expect(try ticks(server.process) - before < 50 * Patience.factor)
            #expect(try await site.posthorn("status").exit == .code(0), "an administrator gets in")
            for descriptor in crowd { close(descriptor) }
            try await limitDescriptors(of: server.process, to: Self.descriptorCountMax)
            try await eventually("others get in again", evidence: { server.process.transcript }) {
                try await site.send("after", to: url) == 200
            }
            try await server.stop()
        }

        @Test(.tags(.slow), arguments: ["EMFILE", "ENFILE", "ENOMEM", "ENOBUFS", "ECONNABORTED"])
        func `when accept fails for a while, the log stays short, and the server recovers`(error: String)
            async throws
        {
            let injection = Injection("accept4", "error=\(error)", when: "2..6")
            let server = try site.start(try injection.wrapper())
            let url = try await server.url()
            #expect(try await site.send("text", to: url) == 200)
            try await eventually("a client gets in", evidence: { server.process.transcript }) {
                try await site.send("text", to: url) == 200
            }
            let lines = server.process.errorOutput.split(separator: "\n").count
            #expect(lines < 50, "\(server.process.errorOutput)")
            try await server.stop()
        }

        @Test(.tags(.slow))
        func `a server without descriptors for its webhooks stops and says which limit to raise`() async throws {
            // Only libcurl opens a pair of sockets: for waking the thread of webhooks.
            let injection = Injection("socketpair", "error=EMFILE", when: 1)
            let server = try site.start(try injection.wrapper())
            try await server.process.waitForExit()
            #expect(server.process.exit == .code(71), "\(server.process.transcript)")
            #expect(server.process.errorOutput.contains("LimitNOFILE"), "\(server.process.transcript)")
        }
    }
}
