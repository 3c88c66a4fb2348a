// SPDX-License-Identifier: Apache-2.0

internal import TestSupport

extension ClusterSite {
    /// Returns the value of a metric without labels at a node; nil if the node does not report it.
    func metric(_ name: String, at node: Int) async throws -> Int? {
        let result = try await RunningProcess.run(
            try RepositoryPaths.tool("curl"), ["-sS", "http://127.0.0.1:\(metricsPorts[node])/metrics"])
        let line = result.output.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        return line.flatMap { Int($0.dropFirst(name.count + 1)) }
    }

    /// Returns the sum of a counter over all nodes that run; a node counts from its last start.
    func total(_ name: String) async throws -> Int {
        var total = 0
        for node in nodes.indices where nodes[node].process.now.exit == nil {
            total += try await metric(name, at: node) ?? 0
        }
        return total
    }

    /// Waits until a node that is cut off from all others reports a missing link in its status and its metrics.
    func waitForWarning(ofNode node: Int) async throws {
        var status = ""
        try await eventually("\(Self.names[node]) reports its links", evidence: { status }) {
            status = try await self.status(of: node)
            let linkCount = try await metric("posthorn_links_up", at: node)
            return status.contains("link-down") && linkCount.map { $0 < 2 } == true
        }
    }
}
