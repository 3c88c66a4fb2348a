// SPDX-License-Identifier: Apache-2.0

/// A peer that controls TLS records and the end of its output: it can send close_notify or FIN, reset, or send
/// thousands of KeyUpdates.
package final class TLSPeer: Sendable {
    private let script: ScriptedProcess
    private let place: Place

    /// A server's endpoint, over TLS or a UNIX socket.
    package struct Place: Encodable, Sendable {
        var host: String?
        var port: Int?
        var caFile: String?
        var alpn: String?
        var path: String?

        /// Creates the endpoint of the server's port, with an ALPN protocol: `h2` or `http/1.1`.
        package init(_ target: ProviderTarget, alpn: String = "h2") {
            (host, port, caFile, self.alpn) = (target.host, target.port, target.caFile, alpn)
        }

        /// Creates the endpoint of a UNIX socket, without TLS.
        package init(path: String) { self.path = path }
    }

    /// A request on HTTP/2.
    package struct Request: Encodable, Sendable {
        let headers: [[String]]
        let body: String?

        package init(headers: [[String]], body: String?) {
            self.headers = headers
            self.body = body
        }
    }

    /// The way in which a peer ends its output.
    package enum Ending: String, Encodable, Sendable, CaseIterable {
        /// A close_notify alert; the socket stays open.
        case closeNotify = "close_notify"
        /// A FIN of the socket, without an alert.
        case fin
        /// A close_notify alert, followed by a FIN.
        case both = "close_notify, fin"
    }

    /// The data that the peer received.
    package struct Answer: Decodable, Sendable {
        /// The status of each request; 0 for no answer.
        package let statuses: [Int]
        /// The streams that were reset.
        package let resets: [Int]
        /// The end of the connection: `closed` or `reset`; empty while the server keeps it open.
        package let end: String
    }

    /// Starts the script, which does not connect yet.
    package init(_ place: Place) throws {
        self.place = place
        script = ScriptedProcess(script: "tls_peer.py")
    }

    /// Connects; on HTTP/2, `window` is the initial window size of each stream in bytes.
    package func connect(window: Int? = nil) async throws {
        let _: Done = try await script.ask(Command("connect", place, window: window))
    }

    /// Sends HTTP/1.1 requests, given as text, and waits for the header fields of their answers.
    package func ask(_ requests: String...) async throws -> Answer { try await script.ask(Send("ask", requests)) }

    /// Sends HTTP/2 requests and waits for the header fields of their answers.
    package func ask(_ requests: Request...) async throws -> Answer { try await script.ask(Send("ask", requests)) }

    /// Sends HTTP/1.1 requests and the end of the output in one write, and reads until the server closes.
    package func finish(_ requests: [String], _ ending: Ending) async throws -> Answer {
        try await script.ask(Send("finish", requests, ending))
    }

    /// Sends HTTP/2 requests and the end of the output in one write, and reads until the server closes.
    package func finish(_ requests: [Request], _ ending: Ending) async throws -> Answer {
        try await script.ask(Send("finish", requests, ending))
    }

    /// Sends requests and the end of the output in one write, and reads nothing.
    package func leave(_ requests: [Request], _ ending: Ending) async throws {
        let _: Done = try await script.ask(Send("leave", requests, ending))
    }

    /// Closes the connection with RST.
    package func reset() async throws { let _: Done = try await script.ask(Command("reset", nil)) }

    /// Returns the processor time that a process uses in one second, in seconds.
    package func processorSeconds(of process: RunningProcess) async throws -> Double {
        var command = Command("processor_time", nil)
        command.process = Int(process.identifier)
        return try await script.ask(command, as: [String: Double].self)["seconds"] ?? .infinity
    }

    /// Sends KeyUpdates on one connection while a provider sends requests on another, one after the other.
    ///
    /// - Parameters:
    ///   - count: The number of KeyUpdates.
    ///   - asks: Whether each KeyUpdate requests one from the server.
    ///   - request: The provider's request.
    /// - Returns: The number of the provider's answers before the server answered a PING after the last KeyUpdate.
    /// - Throws: `ProviderFailure` when a connection is lost.
    package func updateKeys(_ count: Int, asks: Bool, while request: Request) async throws -> Flood {
        var command = Command("update_keys", place)
        (command.count, command.asks, command.request) = (count, asks, request)
        return try await script.ask(command, within: .seconds(120))
    }

    /// The result of sending many KeyUpdates.
    package struct Flood: Decodable, Sendable {
        /// The number of answers to the provider in the meantime.
        package let answers: Int
        /// Whether the PING after the KeyUpdates was answered.
        package let finished: Bool
    }

    /// Starts many TLS handshakes and then a provider's request while the server is stopped, and resumes it.
    ///
    /// - Parameters:
    ///   - count: The number of handshakes.
    ///   - process: The server.
    ///   - request: The provider's request.
    /// - Returns: The result.
    /// - Throws: `ProviderFailure` when a connection fails.
    package func greetTogether(_ count: Int, _ process: RunningProcess, before request: Request) async throws -> Crowd {
        var command = Command("greet_together", place)
        (command.count, command.process, command.request) = (count, Int(process.identifier), request)
        return try await script.ask(command, within: .seconds(120))
    }

    /// The result of many simultaneous handshakes.
    package struct Crowd: Decodable, Sendable {
        /// Whether the provider had its answer before two thirds of the handshakes were complete.
        package let early: Bool
        /// The number of completed handshakes.
        package let connected: Int
    }

    private struct Command: Encodable {
        let op: String
        let host: String?
        let port: Int?
        let caFile: String?
        let alpn: String?
        let path: String?
        let window: Int?
        var count: Int?
        var asks: Bool?
        var process: Int?
        var request: Request?

        init(_ op: String, _ place: Place?, window: Int? = nil) {
            self.op = op
            (host, port, caFile) = (place?.host, place?.port, place?.caFile)
            (alpn, path, self.window) = (place?.alpn, place?.path, window)
        }

        enum CodingKeys: String, CodingKey {
            case op, host, port, alpn, path, window, count, asks, process, request
            case caFile = "ca_file"
        }
    }

    private struct Send<Request: Encodable>: Encodable {
        let op: String
        let requests: [Request]
        let ending: Ending?

        init(_ op: String, _ requests: [Request], _ ending: Ending? = nil) {
            (self.op, self.requests, self.ending) = (op, requests, ending)
        }
    }
}
