// SPDX-License-Identifier: Apache-2.0

/// A device's stream over WebSocket with control of each frame, so that a test can also violate the protocol.
package final class WebSocketDevice: Sendable {
    private let script: ScriptedProcess
    private let server: InstalledServer
    private let secret: String

    /// Starts the script, which does not connect yet.
    package init(_ server: InstalledServer, secret: String) throws {
        self.server = server
        self.secret = secret
        script = ScriptedProcess(script: "websocket_device.py")
    }

    /// Connects and sends a handshake.
    ///
    /// - Parameters:
    ///   - fields: Additional fields.
    ///   - leftOut: The names of fields to leave out, spelled like `Sec-WebSocket-Key`.
    ///   - start: The request line.
    ///   - body: Data that is sent right after the handshake.
    ///   - roomByteCount: The size of the kernel's receive buffer; nil for the default.
    /// - Returns: The answer.
    /// - Throws: `ProviderFailure` when the server does not answer.
    package func connect(
        fields: [[String]] = [], without leftOut: [String] = [], start: String = "GET /v1/stream HTTP/1.1",
        body: String = "", roomByteCount: Int? = nil
    ) async throws -> Answer {
        var command = Command("connect", server, secret)
        (command.fields, command.leftOut, command.start) = (fields, leftOut, start)
        (command.room, command.body) = (roomByteCount, body)
        return try await script.ask(command)
    }

    /// Connects with the Python package `websockets`, which answers pings; returns the subprotocol.
    package func connectByLibrary() async throws -> String {
        try await script.ask(Command("use_library", server, secret), as: [String: String].self)["subprotocol"] ?? ""
    }

    /// Waits for the next message that the package `websockets` receives.
    package func receive() async throws -> Frame { try await script.ask(["op": "receive"]) }

    /// Sends a message with the package `websockets` and waits until the server has read it.
    package func say(_ text: String) async throws { let _: Done = try await script.ask(["op": "say", "text": text]) }

    /// Sends bytes, given in hexadecimal digits.
    package func send(_ hexadecimal: String) async throws {
        let _: Done = try await script.ask(["op": "send", "hexadecimal": hexadecimal])
    }

    /// Sends a frame.
    ///
    /// - Parameters:
    ///   - opcode: The opcode: 0 continuation, 1 text, 2 binary, 8 close, 9 ping, 10 pong.
    ///   - text: The payload.
    ///   - isFinal: Whether no continuation follows.
    ///   - isMasked: Whether the payload is masked, as the protocol requires.
    ///   - pieces: The number of TLS records, which are sent some milliseconds apart.
    /// - Throws: `ProviderFailure` when the connection is closed.
    package func frame(
        _ opcode: Int, _ text: String, isFinal: Bool = true, isMasked: Bool = true, pieces: Int = 1
    ) async throws {
        let _: Done = try await script.ask(
            FrameCommand(opcode: opcode, text: text, final: isFinal, masked: isMasked, pieces: pieces))
    }

    private static let ping = 9
    private static let pong = 10

    /// Waits for the server's next frame.
    package func next(within duration: Duration = Patience.usual) async throws -> Frame {
        try await script.ask(["op": "next"], within: duration)
    }

    /// Waits for the next notification and answers pings; returns its number, or nil for another frame.
    package func nextNotificationID() async throws -> Int? {
        var received = try await next()
        // On a slow machine a test takes longer than a heartbeat.
        while received.opcode == Self.ping {
            try await frame(Self.pong, received.text)
            received = try await next()
        }
        return received.notificationID
    }

    /// Stops reading from the server until the next `connect`.
    package func stopReading() async throws { let _: Done = try await script.ask(["op": "stop_reading"]) }

    /// Sends a last text and the end of the connection in one segment, and waits until the server has closed it too.
    package func leave(saying text: String) async throws {
        let _: Done = try await script.ask(
            FrameCommand(op: "leave", opcode: 1, text: text, final: true, masked: true, pieces: 1))
    }

    /// Closes the connection without a close frame.
    package func close() async throws { let _: Done = try await script.ask(["op": "close"]) }

    /// The answer to a handshake.
    package struct Answer: Decodable, Sendable {
        package let status: Int
        /// The header fields, with names in lower case.
        package let fields: [String: String]
        /// The body; empty for status 101.
        package let body: String
    }

    /// A frame of the server.
    package struct Frame: Decodable, Sendable, Equatable {
        /// The opcode; -1 when the connection was closed instead.
        package let opcode: Int
        /// The payload; for a close frame, the reason.
        package let text: String
        /// The status code of a close frame.
        package let code: Int

        /// The number of the first notification in this frame; nil if it has none.
        package var notificationID: Int? {
            guard let start = text.firstRange(of: #"{"notification":{"id":"#)?.upperBound else { return nil }
            return Int(text[start...].prefix { $0.isNumber })
        }

        package init(opcode: Int, text: String, code: Int) {
            self.opcode = opcode
            self.text = text
            self.code = code
        }
    }

    private struct Command: Encodable {
        let op: String
        let host = "127.0.0.1"
        let port: Int
        let caFile: String
        let secret: String
        var fields: [[String]] = []
        var leftOut: [String] = []
        var start = "GET /v1/stream HTTP/1.1"
        var room: Int?
        var body = ""

        init(_ op: String, _ server: InstalledServer, _ secret: String) {
            self.op = op
            self.secret = secret
            port = server.port
            caFile = server.authorityFile
        }

        enum CodingKeys: String, CodingKey {
            case op, host, port, secret, fields, start, room, body
            case caFile = "ca_file"
            case leftOut = "leave_out"
        }
    }

    private struct FrameCommand: Encodable {
        var op = "frame"
        let opcode: Int
        let text: String
        let final: Bool
        let masked: Bool
        let pieces: Int
    }
}
