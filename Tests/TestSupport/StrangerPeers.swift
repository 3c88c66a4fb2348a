// SPDX-License-Identifier: Apache-2.0

/// HTTP/2 connections without a credential that use all the resources that the server allows: see `stranger.py`.
package final class StrangerPeers: Sendable {
    private let script: ScriptedProcess
    private let target: ProviderTarget

    /// Starts the script, which does not connect yet.
    package init(_ target: ProviderTarget) throws {
        self.target = target
        script = ScriptedProcess(script: "stranger.py")
    }

    /// Opens connections that send the HTTP/2 preface and no request.
    package func connect(_ count: Int) async throws { _ = try await ask("connect", count: count) }

    /// Returns the number of connections that the server has not closed.
    package func openCount() async throws -> Int { try await ask("count_open") }

    /// Sends a PING and SETTINGS on each open connection.
    package func ping() async throws { _ = try await ask("ping") }

    /// Reads each connection to its end; returns the number of those that ended with GOAWAY.
    package func goAwayCount() async throws -> Int { try await ask("goaways") }

    /// Requests device streams with a wrong secret until the server closes the connections; returns immediately.
    package func keepAsking(connections: Int) async throws {
        _ = try await ask("keep_asking", connections: connections)
    }

    /// Sends incomplete requests that refer to long fields of the HPACK table; returns the number of bytes sent.
    package func holdReferences(connections: Int, streams: Int) async throws -> Int {
        try await ask("hold_references", connections: connections, streams: streams)
    }

    /// Sends incomplete requests with 60,000 bytes of body each; returns the number of bytes sent.
    package func holdBodies(connections: Int, streams: Int) async throws -> Int {
        try await ask("hold_bodies", connections: connections, streams: streams)
    }

    /// Opens connections simultaneously and sends a request on each; returns the number of answered requests.
    package func storm(_ count: Int) async throws -> Int { try await ask("storm", count: count) }

    package func close() async throws { let _: Done = try await script.ask(Command("close", target)) }

    private func ask(_ op: String, count: Int? = nil, connections: Int? = nil, streams: Int? = nil) async throws -> Int
    {
        var command = Command(op, target)
        (command.count, command.connections, command.streams) = (count, connections, streams)
        return try await script.ask(command, within: .seconds(180), as: Count.self).count
    }

    private struct Count: Decodable {
        let count: Int
    }

    private struct Command: Encodable {
        let op: String
        let host: String
        let port: Int
        let caFile: String
        var count: Int?
        var connections: Int?
        var streams: Int?

        init(_ op: String, _ target: ProviderTarget) {
            self.op = op
            (host, port, caFile) = (target.host, target.port, target.caFile)
        }

        enum CodingKeys: String, CodingKey {
            case op, host, port, count, connections, streams
            case caFile = "ca_file"
        }
    }
}
