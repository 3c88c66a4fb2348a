// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore
internal import PushTLS

/// The whole server: data loops on threads of their own, the control loop on the calling thread, one store.
///
/// ```
/// main thread: control loop (signals, admin socket)     threads: data loop 0 … n-1 (network port)     store writer
/// ```
package final class Server {
    private let configuration: ServerConfiguration
    private let reportState: @Sendable (String) -> Void
    private let printLine: (String) -> Void

    /// Takes the configuration and the ways out.
    ///
    /// - Parameters:
    ///   - configuration: What to run with.
    ///   - reportState: Gets what the service manager wants to know, for example `READY=1`.
    ///   - printLine: Gets the line that `--ephemeral` promises.
    package init(
        _ configuration: ServerConfiguration, reportState: @escaping @Sendable (String) -> Void,
        printLine: @escaping (String) -> Void
    ) {
        self.configuration = configuration
        self.reportState = reportState
        self.printLine = printLine
    }

    /// Runs until SIGTERM or SIGINT.
    ///
    /// - Throws: Why it could not start, or what the disk did.
    package func run() throws(ServerError) {
        var configuration = configuration
        let temporary = try Self.makeTemporaryDirectory(for: &configuration)
        defer { if let temporary { PrivateFile.removeTree(temporary) } }
        let log = EventLog(threshold: configuration.logLevel, isJournal: configuration.isJournal)
        // Also the last words of a server that failed.
        defer { log.flush() }
        try LibraryFloor.check(log)
        Signal.ignoreBrokenPipes()
        let signals = try ServerError.wrapping { () throws(NetError) in
            try SignalQueue([Signal.terminate, Signal.interrupt, Signal.hangUp])
        }
        // Its thread inherits that the signals are blocked.
        log.startThread()
        let house = try ServerHouse(configuration, log: log)
        // Only now the file is ours: a start that failed may have met another server's.
        defer { PrivateFile.remove(configuration.adminSocket) }
        try house.run(signals: signals, reportState: reportState, printLine: printLine)
    }

    /// An ephemeral server lives in a directory of its own, which goes when it ends.
    private static func makeTemporaryDirectory(for configuration: inout ServerConfiguration) throws(ServerError)
        -> String?
    {
        guard let ephemeral = configuration.ephemeral else { return nil }
        do throws(NetError) {
            let directory = try PrivateFile.makeTemporaryDirectory(prefix: ephemeral.parentDirectory + "/posthornd-")
            configuration.dataDirectory = directory
            configuration.adminSocket = directory + "/admin.sock"
            return directory
        } catch {
            throw .system(error)
        }
    }
}
