// SPDX-License-Identifier: Apache-2.0

/// A peer that decides what TLS writes together: it ends its output alone, resets, or sends thousands of KeyUpdates.
package final class TLSPeer: Sendable {
    private let script: ScriptedProcess
    private let place: Place

    /// A server's end of a connection, over TLS or on a UNIX socket.
    package struct Place: Encodable, Sendable {
        var host: String?
        var port: Int?
        var caFile: String?
        var alpn: String?
        var path: String?

        /// The server's port, with a name for ALPN: `h2` or `http/1.1`.
        package init(_ target: ProviderTarget, alpn: String = "h2") {
            (host, port, caFile, self.alpn) = (target.host, target.port, target.caFile, alpn)
        }

        /// A UNIX socket, without TLS.
        package init(path: String) { self.path = path }
    }

    /// A request on HTTP/2.
    package struct Request: Encodable, Sendable {
        let headers: [[String]]
        let body: String?

        /// Joins the parts.
        package init(headers: [[String]], body: String?) {
            self.headers = headers
            self.body = body
        }
    }

    /// How a peer ends its output.
    package enum Ending: String, Encodable, Sendable, CaseIterable {
        /// TLS's own word, and the socket stays open.
        case closeNotify = "close_notify"
        /// The socket's end alone.
        case fin
        /// One behind the other.
        case both = "close_notify, fin"
    }

    /// What came until the peer had what it waited for.
    package struct Answer: Decodable, Sendable {
        /// One for each request, 0 for none.
        package let statuses: [Int]
        /// Streams that were reset.
        package let resets: [Int]
        /// `closed` or `reset`; empty while the server's end is open.
        package let end: String
    }

    /// Connects to nothing yet.
    package init(_ place: Place) throws {
        self.place = place
        script = try ScriptedProcess(script: "tls_peer.py")
    }

    /// Connects; on HTTP/2 with a window of so many bytes for each stream.
    package func connect(window: Int? = nil) async throws {
        let _: Done = try await script.ask(Command("connect", place, window: window))
    }

    /// Sends requests, as they are on HTTP/1.1, and waits for the heads of their answers.
    package func ask(_ requests: String...) async throws -> Answer { try await script.ask(Send("ask", requests)) }

    /// Sends requests on HTTP/2 and waits for the heads of their answers.
    package func ask(_ requests: Request...) async throws -> Answer { try await script.ask(Send("ask", requests)) }

    /// Sends requests and the end of its output in one go, and reads to the server's end.
    package func finish(_ requests: [String], _ ending: Ending) async throws -> Answer {
        try await script.ask(Send("finish", requests, ending))
    }

    /// As with text, on HTTP/2.
    package func finish(_ requests: [Request], _ ending: Ending) async throws -> Answer {
        try await script.ask(Send("finish", requests, ending))
    }

    /// Sends requests and the end of its output in one go, and reads nothing.
    package func leave(_ requests: [Request], _ ending: Ending) async throws {
        let _: Done = try await script.ask(Send("leave", requests, ending))
    }

    /// Closes with RST.
    package func reset() async throws { let _: Done = try await script.ask(Command("reset", nil)) }

    /// How many seconds a process computes in one.
    package func processorSeconds(of process: RunningProcess) async throws -> Double {
        var command = Command("processor_time", nil)
        command.process = Int(process.identifier)
        return try await script.ask(command, as: [String: Double].self)["seconds"] ?? .infinity
    }

    /// Sends KeyUpdates on one connection while a provider asks on another, one request after the other.
    ///
    /// - Parameters:
    ///   - count: Of KeyUpdates.
    ///   - asks: Whether each asks the server for one.
    ///   - request: The provider's.
    /// - Returns: The provider's answers before the server answered what stood behind the last KeyUpdate.
    /// - Throws: `ProviderFailure` when a connection is lost.
    package func updateKeys(_ count: Int, asks: Bool, while request: Request) async throws -> Flood {
        var command = Command("update_keys", place)
        (command.count, command.asks, command.request) = (count, asks, request)
        return try await script.ask(command, within: .seconds(120))
    }

    /// What became of many KeyUpdates.
    package struct Flood: Decodable, Sendable {
        /// Of the provider, meanwhile.
        package let answers: Int
        /// What stood behind them was answered.
        package let finished: Bool
    }

    /// Has many greet a server that is stopped, and a provider ask behind them, before it goes on.
    ///
    /// - Parameters:
    ///   - count: Of those who greet.
    ///   - process: The server.
    ///   - request: The provider's.
    /// - Returns: What became of it.
    /// - Throws: `ProviderFailure` when one of them does not get in.
    package func greetTogether(_ count: Int, _ process: RunningProcess, before request: Request) async throws -> Crowd {
        var command = Command("greet_together", place)
        (command.count, command.process, command.request) = (count, Int(process.identifier), request)
        return try await script.ask(command, within: .seconds(120))
    }

    /// What became of many who greeted at once.
    package struct Crowd: Decodable, Sendable {
        /// The provider had its answer when two thirds of the others had theirs.
        package let early: Bool
        /// How many got in.
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
