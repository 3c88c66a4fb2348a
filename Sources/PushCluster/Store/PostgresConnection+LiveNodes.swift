// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres
internal import PushSQL

extension PostgresConnection {
    /// Returns the names of the nodes that had a heartbeat in this database in the last ten seconds.
    func liveNodes() throws(SQLError) -> Set<String> {
        let select = try prepare("SELECT name FROM nodes WHERE seen_at > clock_timestamp() - interval '10 seconds'")
        var names: Set<String> = []
        while try select.step() { names.insert(select.string(0)) }
        return names
    }
}
