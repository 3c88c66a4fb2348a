// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushNet
internal import PushStore

extension MetricFamily {
    /// The node of a cluster and its connections to PostgreSQL; without values if the store is in SQLite.
    static let cluster: [MetricFamily] = shards + links + streams

    private static let shards: [MetricFamily] = [
        .gauge("posthorn_pg_connected", "1 while the connection for notifications is open, otherwise 0.", by: "shard") {
            $0.shards { Sample($0.connected.value, $1) }
        },
        .counter("posthorn_pg_reconnects", "Lost connections for notifications.", by: "shard") {
            $0.shards { Sample($0.lostConnections.value, $1) }
        },
        .histogram(
            "posthorn_pg_commit_seconds", "The time of a batch that writes notifications, with the answer.", by: "shard"
        ) { source in source.shards { Sample(source.merged([$0.commit]), $1) } },
        .histogram("posthorn_pg_batch_rows", "The number of notifications that a batch writes.", by: "shard") {
            $0.shards { Sample($0.batchRows, $1) }
        },
        .gauge(
            "posthorn_pg_synchronous_standbys", "The synchronous standbys; without a value if they are not known.",
            by: "shard"
        ) { source in
            source.shards { $0.synchronousStandbys.value < 0 ? nil : Sample($0.synchronousStandbys.value, $1) }
        },
        .gauge(
            "posthorn_pg_oldest_transaction_seconds",
            "The age of the oldest transaction of any program, or 0; without a value if it is not known.", by: "shard"
        ) { source in
            source.shards {
                let seconds = $0.oldestTransactionSeconds.value
                return seconds < 0 ? nil : Sample(seconds, $1)
            }
        },
        .gauge("posthorn_lease_seconds", "The time for which the node may still accept and deliver.", by: "shard") {
            source in source.shards { Sample(nanoseconds: $0.leaseNanoseconds(now: .elapsed), $1) }
        },
        .gauge(
            "posthorn_suspended", "1 while the node may neither accept nor deliver, otherwise 0.", by: "shard"
        ) { source in source.shards { Sample($0.leaseNanoseconds(now: .elapsed) == 0 ? 1 : 0, $1) } },
    ]

    private static let links: [MetricFamily] = [
        .gauge("posthorn_draining", "1 while the node sends its devices away, otherwise 0.") {
            $0.cluster { Sample($0.draining.value) }
        },
        .gauge(
            "posthorn_cluster_problems",
            "The problems that `posthorn cluster status` shows at this node, by their code.",
            by: "code"
        ) { source in
            source.store.cluster.map { cluster in
                ClusterAPI.ProblemCode.allCases.map { Sample(cluster.count(of: $0), $0.rawValue) }
            } ?? []
        },
        .gauge("posthorn_links_up", "The nodes to which this one has a link.") {
            $0.cluster { Sample($0.linksUp.value) }
        },
        .gauge(
            "posthorn_clock_difference_seconds", "The difference between the clocks of the machine and of PostgreSQL."
        ) { $0.cluster { Sample(nanoseconds: abs($0.clockDifference.value) * 1_000_000) } },
        .gauge("posthorn_control_version_lag", "Changes of apps, keys and settings that the node does not use yet.") {
            $0.cluster { Sample($0.controlVersionLag.value) }
        },
        .gauge("posthorn_routes", "Devices whose node this one remembers.") {
            $0.cluster { Sample($0.routes.value) }
        },
        .counter(
            "posthorn_pushes", "Notifications that were sent to the node of their device, by its answer.", by: "result"
        ) { source in
            source.store.cluster.map { cluster in
                ClusterMetrics.PushEnd.allCases.map { Sample(cluster.count(of: $0), $0.word) }
            } ?? []
        },
        .histogram(
            "posthorn_push_seconds", "The time from sending a notification to the node of its device until the answer."
        ) { source in source.store.cluster.map { source.merged([$0.push]) } },
        .counter("posthorn_second_tries", "Notifications that another node did not take, so this one wrote them.") {
            $0.cluster { Sample($0.secondTries.value) }
        },
        .counter(
            "posthorn_wakes", "Devices with written notifications that were named to their node, by its answer.",
            by: "result"
        ) { source in
            source.store.cluster.map { cluster in
                ClusterMetrics.WakeEnd.allCases.map { Sample(cluster.count(of: $0), $0.word) }
            } ?? []
        },
    ]

    private static let streams: [MetricFamily] = [
        .histogram(
            "posthorn_attach_seconds", "The time from the opening of a device's stream until PostgreSQL has it."
        ) { source in source.store.cluster.map { source.merged([$0.attachment]) } },
        .counter(
            "posthorn_registered_again",
            "Streams that were registered again, after a change of the device, a lost connection or the end of a lease."
        ) { $0.cluster { Sample($0.registeredAgain.value) } },
        .counter("posthorn_replaced", "Streams that ended because the device connected to another node.") {
            $0.cluster { Sample($0.replacedStreams.value) }
        },
        .counter("posthorn_minute_reading_found", "Notifications that only the check of each minute found.") {
            $0.cluster { Sample($0.foundByReview.value) }
        },
        .counter("posthorn_trimmed", "Written notifications that were dropped because too many waited.") {
            $0.cluster { Sample($0.trimmed.value) }
        },
    ]
}

extension MetricSource {
    /// Returns a value of the node; an empty list if the store is in SQLite.
    fileprivate func cluster(_ read: (ClusterMetrics) -> MetricFamily.Sample) -> [MetricFamily.Sample] {
        store.cluster.map { [read($0)] } ?? []
    }

    /// Returns a value of each shard with its label; an empty list if the store is in SQLite.
    fileprivate func shards(
        _ read: (ShardMetrics, _ label: String) -> MetricFamily.Sample?
    ) -> [MetricFamily.Sample] {
        (store.cluster?.shards ?? []).enumerated().compactMap { read($0.element, "\($0.offset)") }
    }
}
