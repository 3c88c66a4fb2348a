// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres
internal import PushSQL
internal import PushStore

extension PostgresConnection {
    /// Changes the row of a node in the table `nodes`.
    ///
    /// - Parameter change: The change.
    /// - Returns: The reason why nothing was changed; nil on success.
    /// - Throws: The error that PostgreSQL returned.
    func execute(_ change: NodeChange) throws(SQLError) -> StoreRefusal? {
        switch change {
        case .setDraining(let node, let isDraining):
            // A node that is drained already stays so.
            let statement = try prepare(
                "UPDATE nodes SET draining = CASE WHEN ? = 0 THEN 0 ELSE greatest(draining, 1) END WHERE name = ?")
            statement.bind(isDraining ? 1 : 0 as Int64, at: 1)
            statement.bind(node, at: 2)
            try statement.run()
            return changedRowCount > 0 ? nil : .unknownNode
        }
    }
}
