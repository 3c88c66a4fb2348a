// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres
internal import PushSQL
internal import PushStore

extension PostgresConnection {
    /// Changes the row of a node in the table `nodes`.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - keeper: The secrets, of which a removal replaces the authority of links; nil without links.
    /// - Returns: The reason for the refusal; nil after a change.
    /// - Throws: The error that PostgreSQL returned.
    func execute(_ change: NodeChange, _ keeper: SecretKeeper?) throws(SQLError) -> StoreRefusal? {
        switch change {
        case .setDraining(let node, let isDraining):
            // A node that is drained already stays so.
            let statement = try prepare(
                "UPDATE nodes SET draining = CASE WHEN ? = 0 THEN 0 ELSE greatest(draining, 1) END WHERE name = ?")
            statement.bind(isDraining ? 1 : 0 as Int64, at: 1)
            statement.bind(node, at: 2)
            try statement.run()
            return changedRowCount > 0 ? nil : .unknownNode
        case .remove(let node):
            guard let keeper else { return try remove(node) }
            return try keeper.replaceAuthority(on: self) { () throws(SQLError) in try remove(node) }
        }
    }

    private func remove(_ node: String) throws(SQLError) -> StoreRefusal? {
        let statement = try prepare(
            "DELETE FROM nodes WHERE name = ? AND seen_at < clock_timestamp() - make_interval(secs => ?::bigint)")
        statement.bind(node, at: 1)
        statement.bind(NodeChange.silenceSeconds, at: 2)
        try statement.run()
        guard changedRowCount == 0 else { return nil }
        let known = try prepare("SELECT 1 FROM nodes WHERE name = ?")
        known.bind(node, at: 1)
        defer { known.reset() }
        return try known.step() ? .nodeIsLive : .unknownNode
    }
}
