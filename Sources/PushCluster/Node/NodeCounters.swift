// SPDX-License-Identifier: Apache-2.0

package import PushAPI

/// The numbers of events on one node since its start.
package struct NodeCounters: Sendable {
    package private(set) var accepted = 0
    package private(set) var acknowledged = 0
    package private(set) var expired = 0
    package private(set) var dropped = 0
    /// The reported outcomes of notifications in the windows of streams.
    package private(set) var outcomes: [DeviceAPI.Outcome: Int] = [:]
    /// The acknowledgements of notifications that were not in the window of a stream.
    package private(set) var strayAcknowledgements = 0

    mutating func noteAccepted() { accepted += 1 }
    mutating func noteExpired(_ count: Int = 1) { expired += count }
    mutating func noteDropped() { dropped += 1 }
    mutating func noteStray() { strayAcknowledgements += 1 }

    mutating func noteAcknowledged() { acknowledged += 1 }
    mutating func noteOutcome(_ outcome: DeviceAPI.Outcome) { outcomes[outcome, default: 0] += 1 }
}
