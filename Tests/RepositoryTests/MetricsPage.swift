// SPDX-License-Identifier: Apache-2.0

@testable import PushServer
@testable import PushStore

/// Generates docs/reference/metrics.md from `MetricFamily.groups`.
enum MetricsPage {
    static func render() -> String {
        """
        # Metrics

        <!-- Made from MetricFamily by `make pages`. -->

        `http://HOST:PORT/metrics` has these metrics if `metrics_listen` is set. [Monitor the server](../how-to/monitor.md)
        explains how to use them. The format is Prometheus' text format 0.0.4, or OpenMetrics 1.0 if the client prefers it.
        In OpenMetrics, the name of a counter has no `_total` in the lines `# TYPE` and `# HELP`.

        Counters and histograms start at zero when the server starts. Prometheus' `rate()` and `increase()` allow for that.
        No label contains the name of an app, a team or a device, so the number of series does not depend on them.

        \(sections)

        ## How the times are measured

        - The unit is the second. All histograms of times have the same buckets: \(bounds) s.
        - A loop reads the clock once in each turn. The accept and acknowledgement durations therefore lack the part of a
          turn before a request is read and after its response is written, usually less than a millisecond.
        - The delivery duration is in whole milliseconds of the system's clock. It includes only notifications that arrived
          while the device was connected.
        - The acknowledgement duration measures one notification of each device at a time: the next measurement begins after
          the acknowledgement of the last one. So its count is less than the number of acknowledgements.
        - The busy time of a loop grows once a second. A turn that waits for the processor or the disk counts as busy.
        - The counts of the store are those of its last turn. A notification that a loop delivered without the store is
          counted at most \(journalMilliseconds) ms later.

        ## With PostgreSQL

        - All counters and histograms are those of one node since its start. `posthorn status` shows the sum of all nodes.
        - `posthorn_apps`, `posthorn_devices`, `posthorn_registrations`, `posthorn_notifications_pending` and
          `posthorn_store_size_bytes` are those of the whole cluster, so do not add them up. Each node reads them every five
          seconds. It counts the rows of tables up to \(exactMegabytes) MiB, and uses PostgreSQL's estimate for larger ones.
        - `posthorn_devices_connected` is the number of devices that are connected to the node.
        - `posthorn_cluster_problems` has the codes of the [admin API](admin-api.md#cluster). Each node reads the state of
          PostgreSQL every five seconds. Without a lease it does not, so no problem of PostgreSQL is counted.
        - `posthorn_commit_duration_seconds` measures all batches. One is sent at least once a second.
        - `posthorn_pg_batch_rows` has the buckets \(countBounds).

        """
    }

    private static let journalMilliseconds = 50
    private static let exactMegabytes = StoreSizeReader.exactByteCountMax >> 20

    private static var countBounds: String { MetricText.countBounds.joined(separator: ", ") }

    private static var bounds: String {
        MetricText.bounds.joined(separator: ", ")
    }

    private static var sections: String {
        MetricFamily.groups.map { group in
            let rows = group.families.map { family in
                let labels = family.labels.map { "`\($0)`" }.joined(separator: ", ")
                return "| `\(family.queryName)` | \(family.kind.rawValue) | \(labels) | \(family.help) |"
            }
            return "## \(group.subject)\n\n| Name | Type | Labels | Description |\n|---|---|---|---|\n"
                + rows.joined(separator: "\n")
        }
        .joined(separator: "\n\n")
    }
}
