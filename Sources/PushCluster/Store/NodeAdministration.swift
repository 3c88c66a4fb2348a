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
            guard let keeper else {
                return try transaction(isolation: .readCommitted) { () throws(SQLError) in try remove(node) }
            }
            return try keeper.replaceAuthority(on: self) { () throws(SQLError) in try remove(node) }
        }
    }

    /// Ends an upgrade of the tables when no node needs the former ones.
    ///
    /// Version 1 of the tables is the first, so nothing of former ones is left to delete.
    ///
    /// - Returns: The reason for the refusal; nil if the upgrade has ended.
    /// - Throws: The error that PostgreSQL returned.
    func finishUpgrade() throws(SQLError) -> StoreRefusal? {
        let old = try prepare("SELECT 1 FROM nodes WHERE speaks < ? LIMIT 1")
        old.bind(NodeRegistration.protocolVersion, at: 1)
        defer { old.reset() }
        return try old.step() ? .oldNode : nil
    }

    /// Deletes the row of a node, in a transaction.
    private func remove(_ node: String) throws(SQLError) -> StoreRefusal? {
        if try NodeCounts.end(node, silentForSeconds: NodeChange.silenceSeconds, on: self) {
            let statement = try prepare("DELETE FROM nodes WHERE name = ?")
            statement.bind(node, at: 1)
            try statement.run()
            return nil
        }
        let known = try prepare("SELECT 1 FROM nodes WHERE name = ?")
        known.bind(node, at: 1)
        defer { known.reset() }
        return try known.step() ? .nodeIsLive : .unknownNode
    }
}
