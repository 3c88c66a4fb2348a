// SPDX-License-Identifier: Apache-2.0

internal import PushCore

extension TraceRecorder {
    /// Records what a transaction did, from the list of its events.
    func record(_ events: [StoreEvent], at now: Int64) {
        guard isOn else { return }
        for event in events {
            switch event {
            case .delivery(let event): record(event, at: now)
            case .broadcast(let event): record(event, at: now)
            case .reply, .stream, .holding, .question: break
            }
        }
    }

    private func record(_ event: StoreEvent.Delivery, at now: Int64) {
        switch event {
        case .stored(let pending, _):
            recordAccepted(pending.notification, sequence: pending.sequence, isStored: true, at: now)
            record(.stored, of: pending.sequence, on: pending.notification.address.device, at: now)
        case .nowOrNever(let notification, let sequence, _, _):
            recordAccepted(notification, sequence: sequence, isStored: false, at: now)
        case .acceptedNotStored(let notification, let sequence, let removal, let detail, _):
            let device = notification.channel == nil ? notification.address.device : .none
            recordAccepted(notification, sequence: sequence, isStored: true, at: now)
            record(removal.step, detail, of: sequence, on: device, at: now)
        case .removed(let removed, let removal, let detail):
            record(removal.step, detail, of: removed.sequence, on: removed.device, at: now)
        case .outcome(let acknowledgement, let device):
            guard acknowledgement.id > 0 else { break }
            guard let step = acknowledgement.step else { break }
            let detail = step == .soundOnly ? .none : TraceDetail(deviceReason: acknowledgement.reason)
            record(step, detail, of: acknowledgement.id, on: device, at: now)
        }
    }

    private func record(_ event: StoreEvent.OfBroadcast, at now: Int64) {
        switch event {
        case .stored(let pending, _, _):
            recordAccepted(pending.notification, sequence: pending.sequence, isStored: true, at: now)
            record(.stored, of: pending.sequence, on: .none, at: now)
        case .nowOrNever(let notification, let sequence, _, _, _):
            recordAccepted(notification, sequence: sequence, isStored: false, at: now)
        case .removed(let removed, let removal):
            record(removal.step, of: removed.sequence, on: .none, at: now)
        case .settled(let sequence, let device, let isAcknowledged):
            if isAcknowledged { record(.acknowledged, of: sequence, on: device, at: now) }
        }
    }
}

extension DeviceID {
    /// Stands for no device: a broadcast as a whole.
    static let none = DeviceID(rawValue: 0)
}

extension Tally.Removal {
    fileprivate var step: TraceStep {
        switch self {
        case .acknowledged: .acknowledged
        case .collapsed: .replaced
        case .expired: .expired
        case .dropped: .dropped
        case .unregistered: .unregistered
        }
    }
}

extension DeviceAPI.Acknowledgement {
    /// The step that an outcome is; nil where it says no more than that the device has it.
    fileprivate var step: TraceStep? {
        switch outcome {
        case .delivered: nil
        case .shown: reason?.utf8.elementsEqual(TraceStep.soundOnly.word.utf8) == true ? .soundOnly : .shown
        case .viewed: .viewed
        case .closed: .closed
        case .suppressed: .suppressed
        }
    }
}
