// SPDX-License-Identifier: Apache-2.0

package import PushNet

/// The numbers of the host of one loop, which the loop's thread writes.
package final class HostMetrics: Sendable {
    /// The times from a delivery to its acknowledgement, of one notification of each device at a time.
    package let acknowledgement = DurationHistogram()
    /// The number of notifications that are delivered, and neither acknowledged nor with the store.
    package let unwritten = MetricCell()

    package init() {}
}
