// SPDX-License-Identifier: Apache-2.0

internal import TestSupport
internal import Testing

extension ClusterFaults {
    /// Ends of keys, apps, devices and registrations, which are in force at all nodes when they are answered.
    @Suite(.tags(.slow)) struct ClusterChangeTests {
        /// The connections of the third node, to which the device is connected, that are cut while something ends.
        enum Cut: String, CaseIterable, CustomStringConvertible {
            case none
            case fromNodes = "from the other nodes"
            case fromPostgres = "from PostgreSQL"
            case fromEverything = "from everything"

            /// The cuts of this run: without connections, an answer waits for the end of a lease.
            static let cases = Patience.clusterSeconds == nil ? [Self.none] : allCases

            var description: String { self == .none ? "all nodes connected" : "a node cut off \(rawValue)" }

            fileprivate var directions: [[String]] {
                let (nodes, database) = (ClusterSite.directions(ofNode: 2), ClusterSite.directionsToDatabase(ofNode: 2))
                return switch self {
                case .none: []
                case .fromNodes: nodes
                case .fromPostgres: database
                case .fromEverything: nodes + database
                }
            }
        }

        /// Ends something at a node while the connections of the third node are cut, and prints the figures.
        private func end(_ change: ClusterChange, at node: Int, _ cut: Cut, _ site: ClusterSite) async throws {
            try await site.note("\(change) at \(ClusterSite.names[node]), \(cut)")
            try await site.begin(change, at: node)
            if cut != .none { try await site.cut(cut.directions) }
            let seconds = try await site.makeChange()
            try await site.note("answered")
            try await site.waitForRefusals(at: cut == .none ? [0, 1, 2] : [0, 1])
            if cut != .none { try await site.heal(cut.directions, resets: true) }
            try await site.waitForRefusals(at: [0, 1, 2])
            let refusals = try await site.endChange().sorted { $0.key < $1.key }
            Swift.print(
                """
                Cluster figures. C7, \(change) at \(ClusterSite.names[node]), \(cut): answered after \(seconds) s; \
                refused afterwards \(refusals.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
                """)
        }

        @Test(arguments: Cut.cases)
        func `key, app, device or registration ended at one node: no node uses it after the answer`(
            cut: Cut
        ) async throws {
            let site = try await ClusterSite()
            for node in Patience.clusterSeconds == nil || cut != .none ? [0] : [0, 1, 2] {
                for change in ClusterChange.allCases {
                    try await end(change, at: node, cut, site)
                    try await site.waitUntilServing()
                }
            }
            try await site.conclude().check()
        }
    }
}
