// SPDX-License-Identifier: Apache-2.0

/// A device's stream over WebSocket, frame by frame, so that a test can also break its rules.
package final class WebSocketDevice: Sendable {
    private let script: ScriptedProcess
    private let server: InstalledServer
    private let secret: String

    /// Connects to nothing yet.
    package init(_ server: InstalledServer, secret: String) throws {
        self.server = server
        self.secret = secret
        script = try ScriptedProcess(script: "websocket_device.py")
    }

    /// Sends a handshake.
    ///
    /// - Parameters:
    ///   - fields: Further fields.
    ///   - leftOut: Names of fields that are left out, as in `Sec-WebSocket-Key`.
    ///   - start: The request line.
    ///   - roomByteCount: How much the kernel takes from the server while nobody reads; as usual when nil.
    /// - Returns: The answer.
    /// - Throws: `ProviderFailure` when there is none.
    package func connect(
        fields: [[String]] = [], without leftOut: [String] = [], start: String = "GET /v1/stream HTTP/1.1",
        roomByteCount: Int? = nil
    ) async throws -> Answer {
        var command = Command("connect", server, secret)
        (command.fields, command.leftOut, command.start) = (fields, leftOut, start)
        command.room = roomByteCount
        return try await script.ask(command)
    }

    /// Connects with the Python package `websockets`; answers the subprotocol.
    package func connectByLibrary() async throws -> String {
        try await script.ask(Command("use_library", server, secret), as: [String: String].self)["subprotocol"] ?? ""
    }

    /// The next message that the package `websockets` gets.
    package func receive() async throws -> Frame { try await script.ask(["op": "receive"]) }

    /// Has the package `websockets` send a message, and waits until the server has read it.
    package func say(_ text: String) async throws { let _: Done = try await script.ask(["op": "say", "text": text]) }

    /// Sends bytes, given in hexadecimal digits.
    package func send(_ hexadecimal: String) async throws {
        let _: Done = try await script.ask(["op": "send", "hexadecimal": hexadecimal])
    }

    /// Sends a frame.
    ///
    /// - Parameters:
    ///   - opcode: 0 a continuation, 1 a text, 2 bytes, 8 close, 9 ping, 10 pong.
    ///   - text: The payload.
    ///   - isFinal: No continuation follows.
    ///   - isMasked: As it must be.
    ///   - pieces: In how many TLS records, some milliseconds apart.
    /// - Throws: `ProviderFailure` when the connection is gone.
    package func frame(
        _ opcode: Int, _ text: String, isFinal: Bool = true, isMasked: Bool = true, pieces: Int = 1
    ) async throws {
        let _: Done = try await script.ask(
            FrameCommand(opcode: opcode, text: text, final: isFinal, masked: isMasked, pieces: pieces))
    }

    /// The next frame of the server.
    package func next(within duration: Duration = Patience.usual) async throws -> Frame {
        try await script.ask(["op": "next"], within: duration)
    }

    /// The number of the next notification.
    package func nextNotificationID() async throws -> Int? {
        let text = try await next().text
        guard let start = text.firstRange(of: #"{"notification":{"id":"#)?.upperBound else { return nil }
        return Int(text[start...].prefix { $0.isNumber })
    }

    /// Takes nothing more from the server, until it connects anew.
    package func stopReading() async throws { let _: Done = try await script.ask(["op": "stop_reading"]) }

    /// Sends a last text and the end of the connection in one segment, and waits until the server has ended it, too.
    package func leave(saying text: String) async throws {
        let _: Done = try await script.ask(
            FrameCommand(op: "leave", opcode: 1, text: text, final: true, masked: true, pieces: 1))
    }

    /// Cuts the connection.
    package func close() async throws { let _: Done = try await script.ask(["op": "close"]) }

    /// The answer to a handshake.
    package struct Answer: Decodable, Sendable {
        /// The HTTP status.
        package let status: Int
        /// In lower case.
        package let fields: [String: String]
        /// Empty for 101.
        package let body: String
    }

    /// A frame of the server.
    package struct Frame: Decodable, Sendable, Equatable {
        /// -1 when the connection ended instead.
        package let opcode: Int
        /// The payload, of a close frame the reason.
        package let text: String
        /// Of a close frame.
        package let code: Int

        /// Joins the parts.
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

        init(_ op: String, _ server: InstalledServer, _ secret: String) {
            self.op = op
            self.secret = secret
            port = server.port
            caFile = server.authorityFile
        }

        enum CodingKeys: String, CodingKey {
            case op, host, port, secret, fields, start, room
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
