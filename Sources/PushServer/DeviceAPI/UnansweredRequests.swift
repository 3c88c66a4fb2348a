// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// Costly requests of devices that the store has not answered yet, at most one of a kind for each device.
///
/// A request counts until the store answers it, even if its device has reset it or is gone. Otherwise a device could
/// reset one request to send the next.
struct UnansweredRequests {
    /// A kind of request that reads or writes many rows.
    enum Kind {
        case subscriptions, policy, filter
    }

    private struct Work: Hashable {
        let device: DeviceID
        let kind: Kind
    }

    private var works: Set<Work> = []
    private var places: [ReplyAddress: Work] = [:]

    /// Counts a request; returns false if the device has an unanswered one of the same kind.
    mutating func begin(_ kind: Kind, of device: DeviceID, at address: ReplyAddress) -> Bool {
        let work = Work(device: device, kind: kind)
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
