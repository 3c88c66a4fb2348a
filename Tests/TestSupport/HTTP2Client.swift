// SPDX-License-Identifier: Apache-2.0

/// A provider that exposes HTTP/2 frames: one connection whose fields, DATA frames and GOAWAY a test can read.
package final class HTTP2Client: Sendable {
    private let script: ScriptedProcess
    private let target: ProviderTarget
    /// The serial number of the server's certificate, in hexadecimal.
    package let certificateSerial: String

    /// Connects to a server.
    ///
    /// - Parameters:
    ///   - target: The server.
    ///   - offersALPN: Whether the ClientHello offers `h2`.
    ///   - serverName: The name in the ClientHello, which the certificate must have; nil for the host.
    ///   - window: The initial window size of each stream, in bytes; nil for the default of HTTP/2.
    /// - Throws: `ProviderFailure` when the connection fails.
    package init(
        _ target: ProviderTarget, offersALPN: Bool = true, serverName: String? = nil, window: Int? = nil
    ) async throws {
        self.target = target
        script = ScriptedProcess(script: "http2_client.py")
        let command = Connect(
            host: target.host, port: target.port, caFile: target.caFile, alpn: offersALPN,
            serverName: serverName, window: window)
        certificateSerial = try await script.ask(command, as: Connected.self).serial
    }

    /// Signs a provider token.
    ///
    /// - Parameters:
    ///   - ageSeconds: The age of the token; negative for a time in the future.
    ///   - keyID: The key ID; nil for the target's.
    ///   - teamID: The team ID; nil for the target's.
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
    ///   - fields: All fields, pseudo-header fields first.
    ///   - body: The body, which is sent immediately; nil for none.
    ///   - ends: Whether the request is complete; otherwise `finish` completes it.
    /// - Returns: The stream.
    /// - Throws: `ProviderFailure` when the connection is closed.
    package func open(_ fields: [[String]], body: String?, ends: Bool = true) async throws -> Int {
        if let body { SecretWords.add(payload: body) }
        return try await script.ask(Open(headers: fields, body: body, end: ends), as: Stream.self).stream
    }

    /// Opens the same request without a body on several streams, in one write.
    ///
    /// - Parameters:
    ///   - fields: All fields, pseudo-header fields first.
    ///   - count: The number of streams.
    /// - Returns: The streams.
    /// - Throws: `ProviderFailure` when the connection is closed.
    package func openTogether(_ fields: [[String]], count: Int) async throws -> [Int] {
        try await script.ask(OpenTogether(headers: fields, count: count), as: Streams.self).streams
    }

    /// Waits for the header fields of the answer on a stream, without waiting for the body.
    ///
    /// - Parameter stream: The stream.
    /// - Returns: The received part of the answer, or the reset.
    /// - Throws: `ConnectionLost` when neither was received.
    package func head(_ stream: Int) async throws -> HTTP2Response {
        let response = try await script.ask(Wait(op: "headers", stream: stream), as: HTTP2Response.self)
        guard !response.headers.isEmpty || response.reset != nil else { throw ConnectionLost() }
        return response
    }

    /// Sends the body of an open request and ends it.
    package func finish(_ stream: Int, body: String) async throws {
        let _: Stream = try await script.ask(SendData(stream: stream, body: body, end: true))
    }

    /// Waits for the complete answer on a stream.
    ///
    /// - Parameter stream: The stream.
    /// - Returns: The answer, or the reset.
    /// - Throws: `ConnectionLost` when neither was received.
    package func response(_ stream: Int) async throws -> HTTP2Response {
        let response = try await script.ask(Wait(op: "response", stream: stream), as: HTTP2Response.self)
        guard !response.headers.isEmpty || response.reset != nil else { throw ConnectionLost() }
        return response
    }

    /// Waits until the server closes the connection; returns all GOAWAY frames.
    package func goaways() async throws -> [GoAway] {
        try await script.ask(Wait(op: "goaway", stream: 0), as: GoAways.self).goaways
    }

    /// Waits for the first GOAWAY frame, while the connection may stay open.
    package func firstGoAway() async throws -> GoAway? {
        try await script.ask(Wait(op: "first_goaway", stream: 0), as: GoAways.self).goaways.first
    }

    /// Sends a request and waits for its answer.
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
        let window: Int?

        enum CodingKeys: String, CodingKey {
            case op, host, port, alpn, window
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

    private struct OpenTogether: Encodable {
        var op = "open_together"
        let headers: [[String]]
        let count: Int
    }

    private struct Streams: Decodable {
        let streams: [Int]
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

/// The error for a connection that the server closed before it answered.
package struct ConnectionLost: Error {}

/// An answer with its frame boundaries.
package struct HTTP2Response: Decodable, Sendable {
    /// The fields in order, including `:status`.
    package let headers: [[String]]
    /// The content of each DATA frame.
    package let data: [String]
    /// The frame that had END_STREAM: `headers`, `data`, or nil for neither (a trailing empty DATA frame, or a reset).
    package let endedBy: String?
    /// The error code of RST_STREAM; nil without one.
    package let reset: Int?

    /// Returns the value of a field; nil if it is missing or repeated.
    package func field(_ name: String) -> String? {
        let values = headers.filter { $0.first == name }
        return values.count == 1 ? values[0].last : nil
    }

    package var status: Int? { field(":status").flatMap(Int.init) }

    private enum CodingKeys: String, CodingKey {
        case headers, data, reset
        case endedBy = "ended_by"
    }
}

package struct GoAway: Decodable, Sendable {
    package let code: Int
    /// The last stream that the server answers.
    package let lastStream: Int
    package let debug: String

    private enum CodingKeys: String, CodingKey {
        case code, debug
        case lastStream = "last_stream"
    }
}
