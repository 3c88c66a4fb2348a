// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A notification server that records its calls, and may be killed: Providers/notification_daemon.py.
final class RecordingDaemon: Sendable {
    private let files: TemporaryDirectory
    private let bus: DesktopBus
    private let process: CurrentDaemon

    /// The current process of the server.
    private actor CurrentDaemon {
        private var process: RunningProcess

        init(_ process: RunningProcess) { self.process = process }

        func kill() async throws { try await process.killNow() }

        func replace(with next: RunningProcess) { process = next }
    }

    /// One call of `Notify`.
    struct Shown: Decodable {
        /// The ID of the process that received the call.
        let daemon: Int
        /// The number of the call in its process.
        let call: Int
        /// The number of the alert that it replaces, or 0 for a new one.
        let replaced: Int
        let body: String
        /// The keys and labels, alternating.
        let actions: [String]
        /// The hint `image-path`; empty for none.
        let picture: String
    }

    private struct Answered: Decodable {
        let daemon: Int
        let answered: Int
    }

    /// Starts the server on a bus and waits until it owns its name.
    init(_ bus: DesktopBus) async throws {
        files = try TemporaryDirectory()
        self.bus = bus
        process = CurrentDaemon(try Self.launch(bus, files))
        try await bus.waitForOwner(of: "org.freedesktop.Notifications")
    }

    /// Kills the current process of the server.
    func kill() async throws { try await process.kill() }

    /// Starts another process, without waiting for it.
    func start() async throws { await process.replace(with: try Self.launch(bus, files)) }

    /// Returns all calls to all processes in order, and whether each was answered before its process was killed.
    func shown() -> [(call: Shown, isAnswered: Bool)] {
        let lines = files.read("shown").split(separator: "\n").map { Data($0.utf8) }
        let answered = Set(
            lines.compactMap { try? JSONDecoder().decode(Answered.self, from: $0) }.map {
                "\($0.daemon) \($0.answered)"
            })
        return lines.compactMap { try? JSONDecoder().decode(Shown.self, from: $0) }
            .map { ($0, answered.contains("\($0.daemon) \($0.call)")) }
    }

    private static func launch(_ bus: DesktopBus, _ files: TemporaryDirectory) throws -> RunningProcess {
        try RunningProcess(
            "/usr/bin/python3", [RepositoryPaths.provider("notification_daemon.py"), files.path(of: "shown")],
            environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
    }
}
