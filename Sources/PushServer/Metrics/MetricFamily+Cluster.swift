// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushStore

extension MetricFamily {
    /// The node of a cluster and its connection to PostgreSQL; without values if the store is in SQLite.
    static let cluster: [MetricFamily] = [
        .gauge("posthorn_pg_connected", "1 while the connection for notifications is open, otherwise 0.") {
            $0.cluster { Sample($0.connected.value) }
        },
        .counter("posthorn_pg_reconnects", "Lost connections for notifications.") {
            $0.cluster { Sample($0.lostConnections.value) }
        },
        .histogram(
            "posthorn_pg_commit_seconds", "The time of a batch that writes notifications, with the answer."
        ) { source in source.store.cluster.map { source.merged([$0.commit]) } },
        .counter("posthorn_pg_batches", "Batches that wrote notifications.") {
            $0.cluster { Sample($0.batches.value) }
        },
        .counter("posthorn_pg_rows", "Notifications that were written.") { $0.cluster { Sample($0.rows.value) } },
        .gauge("posthorn_lease_seconds", "The time for which the node may still accept and deliver.") { source in
            source.cluster { Sample(nanoseconds: $0.leaseNanoseconds(now: source.now)) }
        },
        .gauge("posthorn_suspended", "1 while the node may neither accept nor deliver, otherwise 0.") { source in
            source.cluster { Sample($0.leaseNanoseconds(now: source.now) == 0 ? 1 : 0) }
        },
        .gauge("posthorn_draining", "1 while the node sends its devices away, otherwise 0.") {
            $0.cluster { Sample($0.draining.value) }
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
        .counter("posthorn_pushes", "Notifications that were sent to the node of their device.") {
            $0.cluster { Sample($0.pushed.value) }
        },
        .counter("posthorn_second_tries", "Notifications that another node did not take, so this one wrote them.") {
            $0.cluster { Sample($0.secondTries.value) }
        },
        .counter("posthorn_replaced", "Streams that ended because the device connected to another node.") {
            $0.cluster { Sample($0.replacedStreams.value) }
        },
        .counter("posthorn_minute_reading_found", "Notifications that only the check of each minute found.") {
            $0.cluster { Sample($0.foundByReview.value) }
        },
    ]
}

extension MetricSource {
    /// Returns a value of the node; an empty list if the store is in SQLite.
    fileprivate func cluster(_ read: (ClusterMetrics) -> MetricFamily.Sample) -> [MetricFamily.Sample] {
        store.cluster.map { [read($0)] } ?? []
    }
}
