// SPDX-License-Identifier: Apache-2.0

internal import TestSupport

/// Something that ends while providers at all nodes use it.
enum ClusterChange: String, CaseIterable, CustomStringConvertible, Encodable {
    case key, app, device, registration

    var description: String {
        switch self {
        case .key: "a key revoked"
        case .app: "an app removed"
        case .device: "a device removed"
        case .registration: "an app unregistered"
        }
    }
}

extension ClusterSite {
    /// Lets providers at all nodes use something that ends next.
    ///
    /// - Parameters:
    ///   - change: The thing that ends.
    ///   - node: The node that is asked to end it.
    /// - Throws: `ProviderFailure`.
    func begin(_ change: ClusterChange, at node: Int) async throws {
        let _: Done = try await program.ask(Beginning(kind: change, node: node), within: .seconds(120))
    }

    /// Ends it, and returns the seconds until the answer.
    func makeChange() async throws -> Double {
        try await program.ask(["op": "make_change"], within: .seconds(120), as: Answer.self).seconds
    }

    /// Waits until each of these nodes has refused some notifications that were sent after the answer.
    func waitForRefusals(at nodes: [Int]) async throws {
        let _: Done = try await program.ask(Refused(nodes: nodes.map { Self.names[$0] }), within: .seconds(120))
    }

    /// Ends the sending; returns the number of notifications that each node has refused.
    func endChange() async throws -> [String: Int] {
        try await program.ask(["op": "end_change"], within: .seconds(120), as: Refusals.self).refused
    }
}

private struct Beginning: Encodable {
    var op = "begin_change"
    let kind: ClusterChange
    let node: Int
}

private struct Answer: Decodable { let seconds: Double }

private struct Refused: Encodable {
    var op = "refused"
    let nodes: [String]
}

private struct Refusals: Decodable { let refused: [String: Int] }
