// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Checks the order of system calls that makes files survive a power loss, as strace records it.
    struct DurableWriteTests {
        private let files: TemporaryDirectory
        private var log: String { files.path(of: "calls") }

        init() throws { files = try TemporaryDirectory() }

        /// Returns the command for strace as a grandchild, so that the program itself is the test's child.
        private func tracer() throws -> [String] {
            [
                try RepositoryPaths.tool("strace"), "-D", "-f", "-qq", "-y", "--seccomp-bpf", "-s", "256", "-o", log,
                "-e", "trace=fsync,fdatasync,/^rename,/^unlink",
            ]
        }

        /// Returns the calls so far.
        private func calls() -> [FileCall] { FileCall.parse(readText(log)) }

        @Test func `the keys of a first start are synchronized before their rename, and their directory after it`()
            async throws
        {
            let data = files.path(of: "data")
            let command =
                try tracer() + [
                    RepositoryPaths.program("posthornd"), "--data-directory", data, "--listen", "127.0.0.1:0",
                    "--admin-socket", files.path(of: "admin.sock"),
                ]
            let server = try RunningProcess(command[0], Array(command.dropFirst()))
            try await eventually("posthornd listens", evidence: { server.transcript }) {
                guard server.exit == nil else { throw UnexpectedOutput(ended: server) }
                return server.errorOutput.contains("event=listening")
            }
            server.send(SIGTERM)
            try await server.waitForExit()
            let calls = calls()
            let renamed = calls.compactMap(\.newName).filter { $0.hasPrefix(data) }
            let keys = ["token.keys", "authority.key", "authority.pem", "server.key", "server.pem"].map {
                "\(data)/\($0)"
            }
            #expect(Set(keys).isSubset(of: renamed), "\(calls)")
            for name in renamed { calls.expectDurableRename(to: name) }
        }

        @Test func `the agent's secret is durably written and removed, and each notification is on the disk`()
            async throws
        {
            let server = try await InstalledServer()
            let target = try await server.addApp(TestStack.app)
            let bus = try await DesktopBus()
            let user = try await DeviceUser(busAddress: bus.address, wrapper: try tracer())
            try await user.enrol(with: server)
            let secret = user.files.path(of: "state/posthorn/device-secret")
            calls().expectDurableRename(to: secret)

            let token = try await user.register(TestStack.app)
            let provider = try await APNsProvider(target)
            for number in 1...5 {
                let before = calls().count
                let payload = #"{"aps":{"alert":"text \#(number)"}}"#
                #expect(try await provider.send(SentNotification(token: token, payload: payload)).status == 200)
                try await user.waitForEntry("it is there") { $0.body == "text \(number)" }
                let made = calls().dropFirst(before)
                // Below FULL, SQLite synchronizes its log only at checkpoints, which are a thousand pages apart.
                #expect(made.contains { $0.synchronized == user.databasePath + "-wal" }, "\(number): \(made)")
            }

            try await user.posthorn("agent", "unenrol", "--yes")
            let last = calls()
            let removal = try #require(last.lastIndex { $0.removed == secret }, "\(last)")
            let directory = user.files.path(of: "state/posthorn")
            #expect(last[removal...].contains { $0.synchronized == directory }, "\(last[removal...])")
        }
    }
}

/// A system call that makes files durable, or that another one must follow.
private enum FileCall: Equatable {
    case synchronize(String)
    case rename(String, to: String)
    case remove(String)

    var synchronized: String? { if case .synchronize(let path) = self { path } else { nil } }
    var newName: String? { if case .rename(_, let name) = self { name } else { nil } }
    var removed: String? { if case .remove(let path) = self { path } else { nil } }

    /// Parses a log of `strace -f -y`, in which the first line of an interrupted call counts.
    static func parse(_ log: String) -> [FileCall] {
        log.split(separator: "\n").compactMap { line in
            if let match = line.firstMatch(of: /(?:fsync|fdatasync)\([0-9]+<([^>]*)>/) {
                return .synchronize(String(match.1))
            }
            if let match = line.firstMatch(of: /rename[a-z0-9]*\([^"]*"([^"]*)",[^"]*"([^"]*)"/) {
                return .rename(String(match.1), to: String(match.2))
            }
            if let match = line.firstMatch(of: /unlink(?:at)?\([^"]*"([^"]*)"/) { return .remove(String(match.1)) }
            return nil
        }
    }
}

extension [FileCall] {
    /// Checks that a file was synchronized before its last rename, and its directory after that.
    fileprivate func expectDurableRename(to name: String, sourceLocation: SourceLocation = #_sourceLocation) {
        guard let place = lastIndex(where: { $0.newName == name }), case .rename(let earlier, _) = self[place] else {
            Issue.record("\(name) was not renamed into place: \(self)", sourceLocation: sourceLocation)
            return
        }
        let directory = URL(fileURLWithPath: name).deletingLastPathComponent().path
        let isFileDurable = self[..<place].contains { $0.synchronized == earlier }
        #expect(isFileDurable, "\(earlier) before it became \(name)", sourceLocation: sourceLocation)
        let following = self[(place + 1)...].prefix { $0.newName == nil }
        let isNameDurable = following.contains { $0.synchronized == directory }
        #expect(isNameDurable, "\(directory) after \(name) was renamed", sourceLocation: sourceLocation)
    }
}
