// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// The requests of one loop that the store has not answered yet and that a peer must not repeat.
///
/// These are one request of each kind per device, and one enrolment per request ID.
///
/// A request counts until the store answers it, even if its device has reset it or is gone. Otherwise a device could
/// reset one request to send the next.
struct UnansweredRequests {
    /// A kind of request that reads or writes many rows.
    enum Kind {
        case subscriptions, policy, filter
    }

    /// A request that a peer must not send again before it is answered.
    enum Work: Hashable {
        case request(Kind, of: DeviceID)
        /// An enrolment, by the hash of its request ID.
        case enrolment([UInt8])
    }

    private var works: Set<Work> = []
    private var places: [ReplyAddress: Work] = [:]

    /// Records a request; returns false if an equal one is unanswered.
    mutating func begin(_ work: Work, at address: ReplyAddress) -> Bool {
        guard works.insert(work).inserted else { return false }
        places[address] = work
        return true
    }

    /// Notes the store's answer to any request at this address.
    mutating func end(_ address: ReplyAddress) {
        guard !places.isEmpty, let work = places.removeValue(forKey: address) else { return }
        works.remove(work)
    }
}
