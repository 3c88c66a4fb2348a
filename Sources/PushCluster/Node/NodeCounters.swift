// SPDX-License-Identifier: Apache-2.0

package import PushAPI
internal import PushStore

/// The numbers of events on one node since its start.
package struct NodeCounters: Sendable {
    package private(set) var accepted = 0
    package private(set) var acknowledged = 0
    package private(set) var expired = 0
    package private(set) var dropped = 0
    package private(set) var collapsed = 0
    package private(set) var unregistered = 0
    /// The outcomes that devices reported for the first time.
    package private(set) var outcomes: [DeviceAPI.Outcome: Int] = [:]
    /// The acknowledgements that were ignored.
    package private(set) var ignoredAcknowledgements = 0

    /// The notifications that another node did not deliver, so that this one wrote them.
    package private(set) var secondTries = 0
    /// The streams that a later one on another node has replaced.
    package private(set) var replacedStreams = 0
    /// The streams that were registered in the shard again.
    package private(set) var registeredAgain = 0
    /// The rows that were deleted because they exceeded the bounds.
    package private(set) var trimmed = 0
    /// The rows that only the comparison of streams with the shard has found.
    package private(set) var foundByReview = 0

    mutating func noteSecondTry() { secondTries += 1 }
    mutating func noteReplacedStream() { replacedStreams += 1 }
    mutating func noteRegisteredAgain() { registeredAgain += 1 }
    mutating func noteTrimmed(_ count: Int) { trimmed += count }
    mutating func noteReviewed(rowCount: Int) { foundByReview += rowCount }
    mutating func noteAccepted() { accepted += 1 }
    mutating func noteExpired(_ count: Int = 1) { expired += count }
    mutating func noteDropped() { dropped += 1 }
    mutating func noteIgnored(_ count: Int = 1) { ignoredAcknowledgements += count }

    /// Counts an outcome that a device reports for the first time.
    mutating func note(_ outcome: DeviceAPI.Outcome) { outcomes[outcome, default: 0] += 1 }

    /// Counts notifications that no longer wait for their devices.
    mutating func note(_ reason: RemovalReason, _ count: Int = 1) {
        switch reason {
        case .acknowledged: acknowledged += count
        case .collapsed: collapsed += count
        case .expired: expired += count
        case .dropped: dropped += count
        case .unregistered: unregistered += count
        }
    }
}
