// SPDX-License-Identifier: Apache-2.0

package import PushHTTP
package import PushNet
package import PushStore

/// The numbers of one loop, which its thread writes.
package final class LoopMetrics: Sendable {
    /// The time that all turns have taken, in nanoseconds; written once a second.
    package let busy = MetricCell()
    /// The number of sessions that ended because the peer violated the protocol or a limit.
    package let failedSessions = MetricCell()
    package let http2 = HTTP2Metrics()
    package let host = HostMetrics()

    init() {}
}
