// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A `posthornd` with its own data directory, which a test can kill and restart on the same port.
package final class InstalledServer: Sendable {
    /// The directory of the data, the admin socket and the keys.
    package let files: TemporaryDirectory
    package let admin: AdminSocket
    /// The current server process, which `start` replaces.
    package let process: CurrentProcess
    /// The port, which the first start determines.
    package let port: Int

    /// Creates a data directory and starts the server on a port that the system chooses.
    ///
    /// - Parameters:
    ///   - options: Additional options, which restarts use too.
    ///   - port: The port; 0 for one that the system chooses.
    ///   - trustsItself: Whether webhooks trust the server's own authority, which can then certify a back-end.
    ///   - errorPath: The file or FIFO for standard error; nil for a file of the process.
    /// - Throws: `UnexpectedOutput` when it exits instead, `DeadlinePassed` when it does not answer.
    package init(
        options: [String] = [], port: Int = 0, trustsItself: Bool = false, errorPath: String? = nil
    ) async throws {
        files = try TemporaryDirectory()
        admin = AdminSocket(path: files.path(of: "admin.sock"))
        let trust = trustsItself ? ["--webhook-ca-file", files.path(of: "data/authority.pem")] : []
        let options = try await options + trust + Self.storeOptions(options)
        self.options = options
        self.errorPath = errorPath
        let first = try Self.launch(files: files, admin: admin, port: port, options: options, errorPath: errorPath)
        process = CurrentProcess(first)
        let status = try await Self.waitUntilReady(first, admin)
        guard let port = URL(string: status.serverURL)?.port else {
            preconditionFailure("the server says it listens at \(status.serverURL)")
        }
        self.port = port
    }

    /// The options of a database of its own, if all servers of the tests must use PostgreSQL.
    private static func storeOptions(_ options: [String]) async throws -> [String] {
        guard ProcessInfo.processInfo.environment["POSTHORN_TEST_POSTGRES"] != nil, !options.contains("--store-url")
        else { return [] }
        return ["--store-url", try await PostgresDatabase().address]
    }

    private let options: [String]
    private let errorPath: String?

    /// Starts the server again with the same data and port, after it was killed.
    ///
    /// - Parameter added: Options of this start only.
    /// - Throws: `UnexpectedOutput` when it exits instead, `DeadlinePassed` when it does not answer.
    package func start(adding added: [String] = []) async throws {
        let next = try Self.launch(
            files: files, admin: admin, port: port, options: options + added, errorPath: errorPath)
        process.replace(next)
        _ = try await Self.waitUntilReady(next, admin)
    }

    /// Runs a `posthorn` command against the server, which must succeed.
    ///
    /// - Parameter arguments: The arguments without the program's name.
    /// - Returns: The result with the output.
    /// - Throws: `UnexpectedOutput` with the whole output.
    @discardableResult
    package func posthorn(_ arguments: String...) async throws -> ProgramResult {
        try await RunningProcess.run(
            RepositoryPaths.program("posthorn"), arguments, environment: ["POSTHORN_ADMIN_SOCKET": admin.path]
        ).succeeded()
    }

    /// Adds an app and creates a signing key for it.
    ///
    /// - Parameters:
    ///   - topic: The app's topic.
    ///   - name: The app's name for users.
    ///   - isKeyScoped: Whether the key may send to this topic only.
    /// - Returns: The data that a provider needs to send to the app.
    /// - Throws: `UnexpectedOutput` when `posthorn` fails.
    package func addApp(_ topic: String, name: String = "Example Mail", isKeyScoped: Bool = true) async throws
        -> ProviderTarget
    {
        try await posthorn("app", "add", topic, "--name", name)
        let keyFile = files.path(of: "\(topic).p8")
        let key = try await createKey(topic: isKeyScoped ? topic : nil, output: keyFile)
        return ProviderTarget(
            host: "127.0.0.1", port: port, caFile: authorityFile, keyFile: keyFile, keyID: key.keyID,
            teamID: key.teamID, topic: topic)
    }

    /// Creates a signing key.
    ///
    /// - Parameters:
    ///   - topic: The only topic that the key may send to; nil for every topic of the server's team.
    ///   - output: The path of the key file to write.
    /// - Returns: The key ID and the team ID.
    /// - Throws: `UnexpectedOutput` when `posthorn` fails.
    package func createKey(topic: String? = nil, output: String) async throws -> Key {
        let scope = topic.map { ["--topic", $0] } ?? []
        return try await RunningProcess.run(
            RepositoryPaths.program("posthorn"), ["key", "create"] + scope + ["--output", output, "--json"],
            environment: ["POSTHORN_ADMIN_SOCKET": admin.path]
        ).succeeded().decoded(Key.self)
    }

    /// Creates an enrolment code.
    package func enrolmentCode() async throws -> String {
        let code = try await posthorn("enrol", "--json").decoded(EnrolmentCode.self).code
        SecretWords.add("an enrolment code", code)
        return code
    }

    /// The URL to which devices connect.
    package var url: String { "https://127.0.0.1:\(port)" }

    /// The path of the certificate authority that providers and devices trust.
    package var authorityFile: String { files.path(of: "data/authority.pem") }

    private static func launch(
        files: TemporaryDirectory, admin: AdminSocket, port: Int, options: [String], errorPath: String?
    ) throws -> RunningProcess {
        let arguments = [
            "--data-directory", files.path(of: "data"), "--listen", "127.0.0.1:\(port)", "--admin-socket", admin.path,
        ]
        return try RunningProcess(
            RepositoryPaths.program("posthornd"), arguments + options, errorPath: errorPath)
    }

    private static func waitUntilReady(_ process: RunningProcess, _ admin: AdminSocket) async throws -> ServerStatus {
        try await eventualValue("posthornd answers", evidence: { process.transcript }) {
            guard process.exit == nil else { throw UnexpectedOutput(ended: process) }
            guard FileManager.default.fileExists(atPath: admin.path) else { return nil }
            return try? await admin.status()
        }
    }

    /// The IDs of a created signing key.
    package struct Key: Decodable, Sendable {
        package let keyID: String
        package let teamID: String

        private enum CodingKeys: String, CodingKey {
            case keyID = "key_id"
            case teamID = "team_id"
        }
    }

    private struct EnrolmentCode: Decodable {
        let code: String
    }
}

/// The current process of a program that a test restarts.
// Safety: `current` is only accessed while `lock` is held.
package final class CurrentProcess: @unchecked Sendable {
    private let lock = NSLock()
    private var current: RunningProcess

    init(_ first: RunningProcess) { current = first }

    package var now: RunningProcess { lock.withLock { current } }

    func replace(_ next: RunningProcess) { lock.withLock { current = next } }

    /// Kills the process with SIGKILL and waits until it has exited.
    package func killNow() async throws { try await now.killNow() }
}
