// SPDX-License-Identifier: Apache-2.0

package import PushAPI
internal import PushCore

extension TraceEvent {
    /// Creates the first event of a notification; a broadcast is not addressed to a device yet.
    init(
        accepting notification: Notification, _ detail: TraceDetail = .none, sequence: Int64, at time: Timestamp
    ) {
        let (address, apnsID, isBroadcast) = (notification.address, notification.apnsID, notification.channel != nil)
        let origin = Origin(
            topic: address.topic, generation: isBroadcast ? 0 : address.generation, uniqueID: notification.uniqueID,
            apnsID: UniqueID(apnsID.span) ?? UniqueID(high: 0, low: 0),
            hasCapitals: UniqueID.hasCapitals(apnsID.span))
        self.init(
            accepted: origin, detail, sequence: sequence, device: isBroadcast ? .none : address.device, at: time)
    }

    /// Creates the event of an outcome that a device reports; nil for one that says only that the notification arrived.
    init?(
        _ acknowledgement: DeviceAPI.Acknowledgement, topic: TopicID, device: DeviceID, at time: Timestamp
    ) {
        guard let (step, detail) = acknowledgement.traced else { return nil }
        self.init(step, detail, sequence: acknowledgement.id, topic: topic, device: device, at: time)
    }
}

extension DeviceID {
    /// A placeholder for no device, used for a broadcast as a whole.
    static let none = DeviceID(rawValue: 0)
}

extension RemovalReason {
    /// The trace step of a removed notification.
    package var step: TraceStep {
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
    /// The trace step of an outcome with its reason; nil if it says only that the notification arrived.
    var traced: (step: TraceStep, detail: TraceDetail)? {
        switch outcome {
        case .delivered: nil
        case .shown where reason?.utf8.elementsEqual(TraceStep.soundOnly.word.utf8) == true: (.soundOnly, .none)
        case .shown: (.shown, TraceDetail(deviceReason: reason))
        case .viewed: (.viewed, TraceDetail(deviceReason: reason))
        case .closed: (.closed, TraceDetail(deviceReason: reason))
        case .suppressed: (.suppressed, TraceDetail(deviceReason: reason))
        }
    }
}
