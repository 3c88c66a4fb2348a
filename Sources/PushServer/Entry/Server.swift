// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore
internal import PushTLS

/// The whole server: data loops on their own threads, the control loop on the calling thread, and one store.
///
/// ```
/// main thread: control loop (signals, admin socket)     threads: data loop 0 … n-1 (network port)     store writer
/// ```
package final class Server {
    private let configuration: ServerConfiguration
    private let manager: ServiceManagement
    private let printLine: (String) -> Void

    /// Creates a server from a configuration and two output functions.
    ///
    /// - Parameters:
    ///   - configuration: The configuration to run with.
    ///   - manager: The service manager.
    ///   - printLine: Receives the line that `--ephemeral` prints.
    package init(
        _ configuration: ServerConfiguration, manager: ServiceManagement,
        printLine: @escaping (String) -> Void
    ) {
        self.configuration = configuration
        self.manager = manager
        self.printLine = printLine
    }

    /// Runs until SIGTERM or SIGINT; after SIGUSR2, the program's file replaces the process.
    ///
    /// - Throws: The reason why the server could not start, or a failure of the disk.
    package func run() throws(ServerError) {
        var configuration = configuration
        let temporary = try Self.makeTemporaryDirectory(for: &configuration)
        defer { if let temporary { PrivateFile.removeTree(temporary) } }
        let log = EventLog(threshold: configuration.logLevel, isJournal: configuration.isJournal)
        // Also flushes the last messages of a server that failed.
        defer { log.flush() }
        try MinimumLibraryVersions.check(log)
        Signal.ignoreBrokenPipes()
        let signals = try ServerError.wrapping { () throws(NetError) in
            try SignalQueue([Signal.terminate, Signal.interrupt, Signal.hangUp, Signal.user2])
        }
        // The log's thread inherits the blocked signals.
        log.startThread()
        ProgramReplacement.prepare()
        let runtime = try ServerRuntime(configuration, log: log, manager: manager)
        // Register the removal only now: a start that failed may have found the socket of another server.
        defer { PrivateFile.remove(configuration.adminSocket) }
        let isReplaced = try runtime.run(signals: signals, printLine: printLine)
        guard isReplaced else { return }
        log.flush()
        let error = ProgramReplacement.execute(passing: runtime.passedSockets) { error in
            log.error("replacement_failed", ["problem": "\(error)", "remedy": "install the program again"])
            log.flush()
        }
        throw .system(error)
    }

    /// Creates the temporary directory of an ephemeral server, which is removed when the server ends.
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
