// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A data directory with one app, its signing key and one device, on which tests start servers one after the other.
final class ServerSite: Sendable {
    static let topic = "org.example.Mail"

    let files: TemporaryDirectory
    /// The path of the data directory, which may be on a file system of its own.
    let data: String
    let keyID: String
    let teamID: String
    /// The device token of the app on the device.
    let token: String
    private let secret: String
    /// The options of all servers.
    private let options: [String]

    /// Sets up the data directory with a server, and stops that server.
    ///
    /// - Parameters:
    ///   - data: The data directory; a new one when nil.
    ///   - options: Options of all servers.
    /// - Throws: The error of one of the programs.
    init(data: String? = nil, options: [String] = []) async throws {
        files = try TemporaryDirectory()
        self.data = data ?? files.path(of: "data")
        self.options = options
        let server = try PushServer(Self.launch(data: self.data, files: files, options: options))
        try await server.waitUntilListening()
        let admin = ["POSTHORN_ADMIN_SOCKET": files.path(of: "admin.sock")]
        func posthorn(_ arguments: String...) async throws -> ProgramResult {
            try await RunningProcess.run(RepositoryPaths.program("posthorn"), arguments, environment: admin)
                .succeeded()
        }
        _ = try await posthorn("app", "add", Self.topic)
        let key = try await posthorn("key", "create", "--output", files.path(of: "key.p8"), "--json").decoded(Key.self)
        let code = try await posthorn("enrol", "--json").decoded(Code.self).code
        // The copy lies outside the data directory, so that it survives changes to that.
        try FileManager.default.copyItem(atPath: "\(self.data)/authority.pem", toPath: files.path(of: "ca.pem"))
        let url = try await server.url()
        (secret, token) = try await Self.enrol(code, at: url, files)
        (keyID, teamID) = (key.keyID, key.teamID)
        try await server.stop()
    }

    /// Enrols another device at a running server of another site, and shares everything else with that site.
    init(sharing other: ServerSite, at url: String) async throws {
        (files, data, keyID, teamID) = (other.files, other.data, other.keyID, other.teamID)
        options = other.options
        (secret, token) = try await Self.enrol(try await other.enrolmentCode().code, at: url, files)
    }

    /// Enrols a device and registers the app on it.
    private static func enrol(
        _ code: String, at url: String, _ files: TemporaryDirectory
    ) async throws -> (secret: String, token: String) {
        let device: Device = try await Self.ask(
            url, files, "POST", "/v1/devices", body: #"{"code":"\#(code)","name":"desk","platform":"linux"}"#)
        let registration: Registration = try await Self.ask(
            url, files, "PUT", "/v1/apps/\(Self.topic)", secret: device.secret)
        return (device.secret, registration.deviceToken)
    }

    /// Starts a server on the data directory, or on a copy of it.
    ///
    /// - Parameters:
    ///   - wrapper: A program that starts another one in the same process, with its arguments.
    ///   - environment: More environment variables of the server.
    ///   - options: More options of the server.
    ///   - copy: The data directory to use instead of the site's.
    /// - Returns: The server, which may not listen yet, or never.
    /// - Throws: `SystemFailure` when it cannot be started.
    func start(
        _ wrapper: [String] = [], environment: [String: String] = [:], options: [String] = [], on copy: String? = nil
    ) throws -> PushServer {
        PushServer(
            try Self.launch(
                data: copy ?? data, files: files, wrapper: wrapper, environment: environment,
                options: self.options + options))
    }

    /// Copies the data directory while no server uses it.
    func copyData(_ name: String) throws -> String {
        let copy = files.path(of: name)
        try FileManager.default.copyItem(atPath: data, toPath: copy)
        return copy
    }

    /// Runs posthornd to its end, for example with `--check`.
    func posthornd(_ arguments: String..., on copy: String? = nil) async throws -> ProgramResult {
        try await RunningProcess.run(
            RepositoryPaths.program("posthornd"), ["--data-directory", copy ?? data] + arguments)
    }

    /// Runs a command of posthorn against the current server, to its end.
    func posthorn(_ arguments: String...) async throws -> ProgramResult {
        try await RunningProcess.run(
            RepositoryPaths.program("posthorn"), arguments,
            environment: ["POSTHORN_ADMIN_SOCKET": files.path(of: "admin.sock")])
    }

    /// Sends a notification with a text as its body.
    ///
    /// - Parameters:
    ///   - text: The body.
    ///   - url: The server's URL.
    ///   - options: More options of `posthorn send`.
    ///   - environment: More environment variables of `posthorn send`.
    /// - Returns: The answer; nil if there was none.
    /// - Throws: `DeadlinePassed` when the program does not end.
    func answer(
        to text: String, at url: String, options: [String] = [], environment: [String: String] = [:]
    ) async throws -> Answer? {
        let arguments = [
            "send", "--server", url, "--ca-file", files.path(of: "ca.pem"), "--key", files.path(of: "key.p8"),
            "--key-id", keyID, "--team-id", teamID, "--topic", Self.topic, "--token", token, "--body", text, "--json",
        ]
        let result = try await RunningProcess.run(
            RepositoryPaths.program("posthorn"), arguments + options, environment: environment)
        return try? result.decoded(Answer.self)
    }

    /// Sends a notification as `answer` does, and returns the HTTP status.
    func send(
        _ text: String, to url: String, options: [String] = [], environment: [String: String] = [:]
    ) async throws -> Int? {
        try await answer(to: text, at: url, options: options, environment: environment)?.status
    }

    /// Opens the device's stream and records its notifications.
    func openStream(_ url: String) throws -> Stream {
        Stream(
            try RunningProcess(
                try RepositoryPaths.tool("curl"),
                [
                    "-sSN", "--cacert", files.path(of: "ca.pem"), "-H", "authorization: Bearer \(secret)",
                    "\(url)/v1/stream",
                ])
        )
    }

    /// Acknowledges the notifications with these IDs.
    func acknowledge(_ ids: [Int64], at url: String) async throws {
        guard !ids.isEmpty else { return }
        let acknowledgements = ids.map { #"{"id":\#($0),"outcome":"delivered"}"# }.joined(separator: ",")
        let body = #"{"acks":[\#(acknowledgements)]}"#
        _ = try await Self.call(url, files, "POST", "/v1/acks", body: body, secret: secret)
    }

    /// Creates an enrolment code at the current server.
    func enrolmentCode() async throws -> Code {
        try await posthorn("enrol", "--json").succeeded().decoded(Code.self)
    }

    /// Enrols another device, and returns the HTTP status.
    func enrol(_ code: String, at url: String) async throws -> Int? {
        let body = #"{"code":"\#(code)","name":"another","platform":"linux"}"#
        let result = try await RunningProcess.run(
            try RepositoryPaths.tool("curl"),
            [
                "-sS", "--max-time", "20", "--cacert", files.path(of: "ca.pem"), "--data-binary", body, "-o",
                "/dev/null", "-w", "%{http_code}", "\(url)/v1/devices",
            ]
        ).succeeded()
        return Int(result.output)
    }

    /// Returns the device's pending notifications, as a new server without a fault delivers them.
    func waiting(on copy: String? = nil) async throws -> [String] {
        let server = try start(on: copy)
        let url = try await server.url()
        let stream = try openStream(url)
        // Deliveries come in order. So all pending notifications have arrived when the last one has.
        let mark = "mark-\(UInt32.random(in: 0...UInt32.max))"
        guard try await send(mark, to: url) == 200 else { throw UnexpectedOutput(ended: server.process) }
        try await eventually("the mark is delivered", evidence: { stream.process.transcript }) {
            stream.texts.contains(mark)
        }
        let texts = stream.texts.filter { $0 != mark }
        try await acknowledge(stream.ids, at: url)
        try await server.stop()
        return texts.filter { !$0.hasPrefix("mark-") }
    }

    /// Waits for the server's pending output to the stream, by waiting for two later answers of the server.
    func settle(_ server: PushServer, _ stream: Stream) async {
        for _ in 0..<2 { _ = try? await posthorn("status") }
    }

    private static func launch(
        data: String, files: TemporaryDirectory, wrapper: [String] = [], environment: [String: String] = [:],
        options: [String] = []
    ) throws -> RunningProcess {
        let settings = [
            "POSTHORN_DATA_DIRECTORY": data, "POSTHORN_LISTEN": "127.0.0.1:0",
            "POSTHORN_ADMIN_SOCKET": files.path(of: "admin.sock"),
            // The unit sets this too. Otherwise the backtrace printer and strace would wait for each other.
            "SWIFT_BACKTRACE": "enable=no",
        ]
        let command = wrapper + [RepositoryPaths.program("posthornd")] + options
        return try RunningProcess(
            command[0], Array(command.dropFirst()), environment: settings.merging(environment) { $1 })
    }

    private static func ask<Answer: Decodable>(
        _ url: String, _ files: TemporaryDirectory, _ method: String, _ path: String, body: String? = nil,
        secret: String? = nil
    ) async throws -> Answer {
        try await call(url, files, method, path, body: body, secret: secret).decoded(Answer.self)
    }

    private static func call(
        _ url: String, _ files: TemporaryDirectory, _ method: String, _ path: String, body: String?, secret: String?
    ) async throws -> ProgramResult {
        var arguments = [
            "-sS", "--fail-with-body", "--max-time", "20", "--cacert", files.path(of: "ca.pem"), "-X", method,
        ]
        if let body { arguments += ["--data-binary", body] }
        if let secret { arguments += ["-H", "authorization: Bearer \(secret)"] }
        return try await RunningProcess.run(try RepositoryPaths.tool("curl"), arguments + [url + path])
            .succeeded()
    }

    private struct Key: Decodable {
        let keyID: String
        let teamID: String

        private enum CodingKeys: String, CodingKey {
            case keyID = "key_id"
            case teamID = "team_id"
        }
    }

    /// An enrolment code, as `posthorn enrol --json` prints it.
    struct Code: Decodable {
        let code: String
        let expiresAt: Int64

        private enum CodingKeys: String, CodingKey {
            case code
            case expiresAt = "expires_at"
        }
    }

    private struct Device: Decodable {
        let secret: String

        private enum CodingKeys: String, CodingKey {
            case secret = "device_secret"
        }
    }

    private struct Registration: Decodable {
        let deviceToken: String

        private enum CodingKeys: String, CodingKey {
            case deviceToken = "device_token"
        }
    }

    /// The answer that `posthorn send` prints.
    struct Answer: Decodable {
        let status: Int
        let detail: String?
    }
}

/// A posthornd process that was started, and may fail.
struct PushServer: Sendable {
    let process: RunningProcess

    init(_ process: RunningProcess) { self.process = process }

    /// Waits until the server listens.
    func waitUntilListening() async throws { _ = try await url() }

    /// Waits for the server's URL, and throws an error when the server ends instead.
    func url() async throws -> String {
        try await eventualValue("posthornd listens", evidence: { process.transcript }) {
            let hasEnded = process.exit != nil
            if let url = listening { return url }
            if hasEnded { throw UnexpectedOutput(ended: process) }
            return nil
        }
    }

    /// Waits for the server's URL, or returns nil if the server ends instead.
    func urlIfStarted() async throws -> String? {
        try await eventualValue("posthornd listens or ends", evidence: { process.transcript }) { () -> String?? in
            let hasEnded = process.exit != nil
            if let url = listening { return .some(url) }
            return hasEnded ? .some(nil) : nil
        }
    }

    /// Stops the server with SIGTERM and waits for its end.
    func stop() async throws {
        process.send(SIGTERM)
        let exit = try await process.waitForExit()
        guard exit == .code(0) else { throw UnexpectedOutput(ended: process) }
    }

    private var listening: String? {
        process.errorOutput.firstMatch(of: /event=listening url=(\S+)/).map { String($0.1) }
    }
}

/// A device's stream and its output.
struct Stream: Sendable {
    let process: RunningProcess

    init(_ process: RunningProcess) { self.process = process }

    /// The bodies of the alerts, in order.
    var texts: [String] { process.output.matches(of: /"body": ?"([^"]*)"/).map { String($0.1) } }

    /// The IDs to acknowledge, in order.
    var ids: [Int64] { process.output.matches(of: /"id":([0-9]+)/).compactMap { Int64($0.1) } }
}

extension ServerSite {
    /// Returns the data with which a provider sends to a server of this site.
    func target(port: Int) -> ProviderTarget {
        ProviderTarget(
            host: "127.0.0.1", port: port, caFile: files.path(of: "ca.pem"), keyFile: files.path(of: "key.p8"),
            keyID: keyID, teamID: teamID, topic: Self.topic)
    }
}
