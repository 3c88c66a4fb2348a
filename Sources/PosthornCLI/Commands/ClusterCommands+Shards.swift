// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI

/// The databases in the output of `posthorn cluster status`.
extension ClusterCommands {
    static func shardText(of cluster: ClusterAPI.Status) -> String {
        guard cluster.shards.count > 1 else {
            return Table.fields(cluster.shards.first.map { lines(of: $0, node: cluster.node) } ?? [])
        }
        let properties = Table(
            [
                .number("SHARD"), .number("SLOTS"), .text("POSTGRESQL"), .number("STANDBYS"), .text("TLS"),
                .text("OLDEST TRANSACTION"),
            ],
            rows: cluster.shards.map { shard in
                [
                    "\(shard.number)", "\(shard.slotCount)",
                    shard.isConnected ? shard.version ?? "does not answer" : "not connected", standbys(of: shard),
                    shard.usesTLS.map { $0 ? "yes" : "no" } ?? "-",
                    shard.oldestTransactionSeconds.map { TimeSpan.text(seconds: $0) } ?? "-",
                ]
            })
        let load = Table(
            [
                .number("SHARD"), .number("WAITING"), .number("WRITTEN"), .number("P50"), .number("P99"),
                .text("PRIMARY"),
            ],
            rows: cluster.shards.map { shard in
                [
                    "\(shard.number)", shard.waitingCount.map { "\($0)" } ?? "-",
                    shard.writtenPerMinute.map { "\($0)/min" } ?? "-", time(shard.commitP50Milliseconds),
                    time(shard.commitP99Milliseconds), shard.server ?? "-",
                ]
            })
        return properties.text + "\n\n" + load.text
    }

    /// Returns the number of synchronous standbys, and that of others if there are any.
    private static func standbys(of shard: ClusterAPI.Shard) -> String {
        guard let count = shard.synchronousStandbyCount else { return "-" }
        guard let others = shard.asynchronousStandbyCount, others > 0 else { return "\(count)" }
        return "\(count) + \(others)"
    }

    private static func time(_ milliseconds: Int64?) -> String { milliseconds.map { "\($0) ms" } ?? "-" }

    private static func lines(
        of postgres: ClusterAPI.Shard, node: String
    ) -> [(name: String, value: String)] {
        guard postgres.isConnected else { return [("PostgreSQL", "not connected")] }
        guard let version = postgres.version else { return [("PostgreSQL", "connected, but it does not answer")] }
        let names = postgres.synchronousStandbyNames ?? ""
        let role = postgres.isPrimary == true ? "primary" : "standby"
        let count = postgres.synchronousStandbyCount.map { "\($0) connected" } ?? "unknown number"
        var lines = [
            (name: "PostgreSQL", value: "\(version), \(role)" + (postgres.server.map { " at \($0)" } ?? "")),
            (name: "Synchronous standbys", value: "\(count); synchronous_standby_names = '\(names)'"),
        ]
        if let others = postgres.asynchronousStandbyCount, others > 0 {
            lines.append((name: "Other standbys", value: "\(others) connected"))
        }
        let age = postgres.oldestTransactionSeconds.map { TimeSpan.text(seconds: $0) }
        lines.append((name: "synchronous_commit", value: postgres.synchronousCommit ?? "unknown"))
        lines.append((name: "TLS", value: postgres.usesTLS == true ? "yes" : "no"))
        lines.append((name: "Oldest transaction", value: age ?? "none"))
        lines.append((name: "Waiting", value: postgres.waitingCount.map { "\($0) notifications" } ?? "unknown"))
        lines.append((name: "Written by \(node)", value: writes(of: postgres)))
        return lines
    }

    private static func writes(of postgres: ClusterAPI.Shard) -> String {
        guard let count = postgres.writtenPerMinute else { return "unknown" }
        let text = "\(count) notifications in the last minute"
        guard let p50 = postgres.commitP50Milliseconds, let p99 = postgres.commitP99Milliseconds else { return text }
        return text + "; commit: p50 \(p50) ms, p99 \(p99) ms"
    }
}
