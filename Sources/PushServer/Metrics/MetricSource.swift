// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushServing
internal import PushStore

/// The state of the server that metrics are read from, for one scrape on the control loop.
struct MetricSource {
    let context: ServerContext
    let now: MonotonicTime
    let connections: ConnectionLimiter.Counts
    /// The time at which the presented certificate expires; nil before a certificate is loaded.
    let certificateExpiry: Timestamp?
    /// The number of devices that do not trust the server's certificate; nil before the store has answered.
    let cutOffDeviceCount: Int?

    init(_ context: ServerContext, cutOffDeviceCount: Int?, now: MonotonicTime) {
        self.context = context
        self.cutOffDeviceCount = cutOffDeviceCount
        self.now = now
        connections = context.serving.limiter.counts
        certificateExpiry = context.installation.certificateExpiry
    }

    var metrics: ServerMetrics { context.metrics }
    var store: StoreMetrics { context.metrics.store }

    /// Returns the sum of a number of all loops.
    func sum(_ number: (LoopMetrics) -> Int64) -> Int64 { metrics.loops.reduce(0) { $0 + number($1) } }

    /// Returns the counts of histograms together.
    func merged(_ histograms: some Sequence<DurationHistogram>) -> DurationHistogram.Snapshot {
        var snapshot = DurationHistogram.Snapshot()
        for histogram in histograms { snapshot.add(histogram) }
        return snapshot
    }

    /// The size in bytes of the database file, or of the file with this suffix; 0 for a missing file.
    func databaseByteCount(_ suffix: String = "") -> Int64 {
        PrivateFile.byteCount(context.installation.databaseFile + suffix) ?? 0
    }

    /// The time since which the slowest webhook is behind, in nanoseconds; 0 if none is.
    var webhookLagNanoseconds: Int64 {
        let since = metrics.webhooks.behindSince.value
        return since == 0 ? 0 : max(0, now.nanoseconds - since)
    }

    /// The bytes of the trace that the slowest webhook has not received; 0 if none is behind.
    var webhookLagByteCount: Int64 {
        guard metrics.webhooks.behindSince.value != 0 else { return 0 }
        return max(0, store[.traceEnd] - metrics.webhooks.position.value)
    }
}
