// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// Ends the streams of a node that takes no devices, so that they connect to other nodes.
///
/// The ends are spread over time, so that not all devices connect to the other nodes at once. A stream that ends
/// writes the notifications that its device has not acknowledged.
final class StreamGoodbyes {
    private let context: NodeContext
    private let host: Host
    /// Whether the node takes no devices.
    private(set) var isOn = false
    /// The devices whose streams have not been ended yet; some have left.
    private var devices: ArraySlice<DeviceID> = []
    private var interval: Int64 = 0
    private var nextEnd = MonotonicTime.future
    /// The time since which no stream is left; nil while there are some.
    private(set) var emptySince: MonotonicTime?

    init(_ context: NodeContext, _ host: Host) {
        self.context = context
        self.host = host
    }

    /// Starts or stops to send the devices away.
    ///
    /// - Parameters:
    ///   - isOn: Whether the node takes no devices.
    ///   - milliseconds: The time over which the ends are spread.
    func set(isOn: Bool, spreadOver milliseconds: Int64) {
        guard isOn != self.isOn else { return }
        self.isOn = isOn
        devices = isOn ? host.devices[...] : []
        let spread = milliseconds * 1_000_000
        let longest = context.configuration.goodbyePauseMillisecondsMax * 1_000_000
        interval = min(spread / Int64(max(devices.count, 1)), longest)
        nextEnd = context.moment
    }

    /// The time at which the next stream ends; nil without one.
    var nextDue: MonotonicTime? { devices.isEmpty ? nil : nextEnd }

    /// Ends the streams whose time has come.
    func expire() {
        while nextEnd <= context.moment, let device = devices.popFirst() {
            guard host.sendAway(device) else { continue }
            nextEnd = nextEnd.advanced(byNanoseconds: interval)
        }
        if host.count > 0 || !isOn {
            emptySince = nil
        } else if emptySince == nil {
            emptySince = context.moment
        }
    }
}
