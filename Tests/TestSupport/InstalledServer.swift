// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A `posthornd` with a data directory of its own, which a test may kill and start again on the same port.
package final class InstalledServer: Sendable {
    /// The data directory, the admin socket and keys.
    package let files: TemporaryDirectory
    /// The admin API.
    package let admin: AdminSocket
    /// The process of now; another one after `start`.
    package let process: CurrentProcess
    /// Where it listens; fixed by the first start.
    package let port: Int

    /// Makes a data directory and starts the server on a port that the system chooses.
    ///
    /// - Parameters:
    ///   - options: More options, kept over restarts.
    ///   - trustsItself: Whether webhooks trust the server's own authority, which may then certify a back-end.
    /// - Throws: `UnexpectedOutput` when it ends instead, `DeadlinePassed` when it does not answer.
    package init(options: [String] = [], trustsItself: Bool = false) async throws {
        files = try TemporaryDirectory()
        admin = AdminSocket(path: files.path(of: "admin.sock"))
        let trust = trustsItself ? ["--webhook-ca-file", files.path(of: "data/authority.pem")] : []
        let options = options + trust
        self.options = options
        let first = try Self.launch(files: files, admin: admin, port: 0, options: options)
        process = CurrentProcess(first)
        let status = try await Self.waitUntilReady(first, admin)
        guard let port = URL(string: status.serverURL)?.port else {
            preconditionFailure("the server says it listens at \(status.serverURL)")
        }
        self.port = port
    }

    private let options: [String]

    /// Starts it again on the same data and port, after it was killed.
    package func start() async throws {
        let next = try Self.launch(files: files, admin: admin, port: port, options: options)
        process.replace(next)
        _ = try await Self.waitUntilReady(next, admin)
    }

    /// Runs a command of `posthorn` against it, and insists that it succeeds.
    ///
    /// - Parameter arguments: Without the program's name.
    /// - Returns: What it printed.
    /// - Throws: `UnexpectedOutput` with all that it said.
    @discardableResult
    package func posthorn(_ arguments: String...) async throws -> ProgramResult {
        try await RunningProcess.run(
            RepositoryPaths.program("posthorn"), arguments, environment: ["POSTHORN_ADMIN_SOCKET": admin.path]
        ).succeeded()
    }

    /// Makes an app and a signing key for it.
    ///
    /// - Parameters:
    ///   - topic: The app's topic.
    ///   - name: What people call it.
    ///   - isKeyScoped: Whether the key is for this topic alone.
    /// - Returns: What a provider needs to send to it.
    /// - Throws: What `posthorn` says against it.
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

    /// Makes a signing key.
    ///
    /// - Parameters:
    ///   - topic: The one topic it may send to; every topic of the server's team when nil.
    ///   - output: The file to write it to.
    /// - Returns: Its key id and team id.
    /// - Throws: What `posthorn` says against it.
    package func createKey(topic: String? = nil, output: String) async throws -> Key {
        let scope = topic.map { ["--topic", $0] } ?? []
        return try await RunningProcess.run(
            RepositoryPaths.program("posthorn"), ["key", "create"] + scope + ["--output", output, "--json"],
            environment: ["POSTHORN_ADMIN_SOCKET": admin.path]
        ).succeeded().decoded(Key.self)
    }

    /// Makes an enrolment code.
    package func enrolmentCode() async throws -> String {
        try await posthorn("enrol", "--json").decoded(EnrolmentCode.self).code
    }

    /// Where devices connect.
    package var url: String { "https://127.0.0.1:\(port)" }

    /// The authority that providers and devices trust.
    package var authorityFile: String { files.path(of: "data/authority.pem") }

    private static func launch(
        files: TemporaryDirectory, admin: AdminSocket, port: Int, options: [String]
    ) throws -> RunningProcess {
        let arguments = [
            "--data-directory", files.path(of: "data"), "--listen", "127.0.0.1:\(port)", "--admin-socket", admin.path,
        ]
        return try RunningProcess(RepositoryPaths.program("posthornd"), arguments + options)
    }

    private static func waitUntilReady(_ process: RunningProcess, _ admin: AdminSocket) async throws -> ServerStatus {
        try await eventualValue("posthornd answers", evidence: { process.transcript }) {
            guard process.exit == nil else { throw UnexpectedOutput(ended: process) }
            guard FileManager.default.fileExists(atPath: admin.path) else { return nil }
            return try? await admin.status()
        }
    }

    /// A signing key that was made.
    package struct Key: Decodable, Sendable {
        /// Its key id.
        package let keyID: String
        /// Its team id.
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

/// The process that plays a part now, and can be replaced by its successor.
// Safety: `current` is only touched while `lock` is held.
package final class CurrentProcess: @unchecked Sendable {
    private let lock = NSLock()
    private var current: RunningProcess

    init(_ first: RunningProcess) { current = first }

    /// The process of now.
    package var now: RunningProcess { lock.withLock { current } }

    func replace(_ next: RunningProcess) { lock.withLock { current = next } }

    /// Kills it with SIGKILL and waits until it is gone.
    package func killNow() async throws { try await now.killNow() }
}
