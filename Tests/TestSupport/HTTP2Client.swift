// SPDX-License-Identifier: Apache-2.0

/// A provider that shows frames: one HTTP/2 connection, of which the test sees fields, DATA frames and GOAWAY.
package final class HTTP2Client: Sendable {
    private let script: ScriptedProcess
    private let target: ProviderTarget
    /// The serial number of the server's certificate, in hexadecimal.
    package let certificateSerial: String

    /// Connects.
    ///
    /// - Parameters:
    ///   - target: The server.
    ///   - offersALPN: Whether the TLS hello offers `h2`.
    ///   - serverName: The name that the TLS hello asks for, and that the certificate must have; the host when nil.
    /// - Throws: `ProviderFailure` when there is no connection.
    package init(_ target: ProviderTarget, offersALPN: Bool = true, serverName: String? = nil) async throws {
        self.target = target
        script = try ScriptedProcess(script: "http2_client.py")
        let command = Connect(
            host: target.host, port: target.port, caFile: target.caFile, alpn: offersALPN,
            serverName: serverName)
        certificateSerial = try await script.ask(command, as: Connected.self).serial
    }

    /// Signs a provider token.
    ///
    /// - Parameters:
    ///   - ageSeconds: How old it is; negative lies in the future.
    ///   - keyID: Another key id than the target's.
    ///   - teamID: Another team id than the target's.
    ///   - foreignKey: Whether to sign with a key that the server does not know.
    /// - Returns: The provider token.
    /// - Throws: `ProviderFailure` when the key cannot be read.
    package func providerToken(
        ageSeconds: Int = 0, keyID: String? = nil, teamID: String? = nil, foreignKey: Bool = false
    ) async throws -> String {
        let command = Sign(
            keyFile: foreignKey ? "" : target.keyFile, keyID: keyID ?? target.keyID, teamID: teamID ?? target.teamID,
            ageSeconds: ageSeconds)
        return try await script.ask(command, as: Signed.self).token
    }

    /// Opens a request.
    ///
    /// - Parameters:
    ///   - fields: All of them, pseudo-header fields first.
    ///   - body: Sent at once, when not nil.
    ///   - ends: Whether the request is whole; otherwise `send` adds to it.
    /// - Returns: The stream.
    /// - Throws: `ProviderFailure` when the connection is gone.
    package func open(_ fields: [[String]], body: String?, ends: Bool = true) async throws -> Int {
        try await script.ask(Open(headers: fields, body: body, end: ends), as: Stream.self).stream
    }

    /// Adds to an open request and ends it.
    package func finish(_ stream: Int, body: String) async throws {
        let _: Stream = try await script.ask(SendData(stream: stream, body: body, end: true))
    }

    /// Waits for the answer on a stream.
    ///
    /// - Parameter stream: The stream.
    /// - Returns: The answer, or the reset that came instead.
    /// - Throws: `ConnectionLost` when neither came.
    package func response(_ stream: Int) async throws -> HTTP2Response {
        let response = try await script.ask(Wait(op: "response", stream: stream), as: HTTP2Response.self)
        guard !response.headers.isEmpty || response.reset != nil else { throw ConnectionLost() }
        return response
    }

    /// Waits until the server has closed the connection; answers all GOAWAY frames that came.
    package func goaways() async throws -> [GoAway] {
        try await script.ask(Wait(op: "goaway", stream: 0), as: GoAways.self).goaways
    }

    /// Waits for the first GOAWAY frame, while the connection may live on.
    package func firstGoAway() async throws -> GoAway? {
        try await script.ask(Wait(op: "first_goaway", stream: 0), as: GoAways.self).goaways.first
    }

    /// Sends one request and waits for its answer.
    package func request(_ fields: [[String]], body: String?) async throws -> HTTP2Response {
        try await response(try await open(fields, body: body))
    }

    private struct Connect: Encodable {
        var op = "connect"
        let host: String
        let port: Int
        let caFile: String
        let alpn: Bool
        let serverName: String?

        enum CodingKeys: String, CodingKey {
            case op, host, port, alpn
            case caFile = "ca_file"
            case serverName = "server_name"
        }
    }

    private struct Connected: Decodable {
        let serial: String
    }

    private struct Sign: Encodable {
        var op = "sign"
        let keyFile: String
        let keyID: String
        let teamID: String
        let ageSeconds: Int

        enum CodingKeys: String, CodingKey {
            case op
            case keyFile = "key_file"
            case keyID = "key_id"
            case teamID = "team_id"
            case ageSeconds = "age_seconds"
        }
    }

    private struct Signed: Decodable {
        let token: String
    }

    private struct Open: Encodable {
        var op = "open"
        let headers: [[String]]
        let body: String?
        let end: Bool
    }

    private struct SendData: Encodable {
        var op = "data"
        let stream: Int
        let body: String
        let end: Bool
    }

    private struct Wait: Encodable {
        let op: String
        let stream: Int
    }

    private struct Stream: Decodable {
        let stream: Int
    }

    private struct GoAways: Decodable {
        let goaways: [GoAway]
    }
}

/// The server closed a connection before it answered.
package struct ConnectionLost: Error {}

/// An answer as its frames were.
package struct HTTP2Response: Decodable, Sendable {
    /// The fields in order, `:status` among them.
    package let headers: [[String]]
    /// The body of each DATA frame.
    package let data: [String]
    /// Which frame carried END_STREAM: `headers`, `data`, or nil for neither (an empty DATA frame behind, or a reset).
    package let endedBy: String?
    /// The code of RST_STREAM, if one came.
    package let reset: Int?

    /// The value of a field; nil when it is missing or comes twice.
    package func field(_ name: String) -> String? {
        let values = headers.filter { $0.first == name }
        return values.count == 1 ? values[0].last : nil
    }

    /// The HTTP status.
    package var status: Int? { field(":status").flatMap(Int.init) }

    private enum CodingKeys: String, CodingKey {
        case headers, data, reset
        case endedBy = "ended_by"
    }
}

/// A GOAWAY frame.
package struct GoAway: Decodable, Sendable {
    /// The error code.
    package let code: Int
    /// The last stream that was or will be answered.
    package let lastStream: Int
    /// The debug data.
    package let debug: String

    private enum CodingKeys: String, CodingKey {
        case code, debug
        case lastStream = "last_stream"
    }
}
