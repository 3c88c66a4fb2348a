// SPDX-License-Identifier: Apache-2.0

internal import PushSQL

/// The positions in the trace of all nodes from which webhooks report events.
final class PostgresTracePositions: TracePositions {
    let isOn: Bool
    private let select: any SQLStatement

    init(_ database: any SQLDatabase, isOn: Bool) throws(SQLError) {
        self.isOn = isOn
        select = try database.prepare("SELECT position FROM trace_end")
    }

    func startWebhook() throws(SQLError) -> Int64 {
        defer { select.reset() }
        return try select.step() ? select.int64(0) : 0
    }
}
