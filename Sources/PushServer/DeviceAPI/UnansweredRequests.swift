// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// Requests of devices that cost the store most and that it has not answered yet: one of a kind for each device.
///
/// A request counts until the store answers it, also when its device has reset it or is gone: otherwise a device would
/// only have to reset one request to send the next.
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

    /// Counts a request; false when the device has one of the kind that is not answered.
    mutating func begin(_ kind: Kind, of device: DeviceID, at address: ReplyAddress) -> Bool {
        let work = Work(device: device, kind: kind)
        guard works.insert(work).inserted else { return false }
        places[address] = work
        return true
    }

    /// Notes an answer of the store, to whatever was asked at this address.
    mutating func end(_ address: ReplyAddress) {
        guard !places.isEmpty, let work = places.removeValue(forKey: address) else { return }
        works.remove(work)
    }
}
