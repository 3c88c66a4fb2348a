// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The hosts of devices, as far as this node remembers: a hint, which may be wrong.
///
/// A notification that follows a wrong hint is written, and the look at `hosts` after the commit finds the right one.
struct Routes {
    enum Route: Equatable {
        case host(InstanceID)
        /// The device had no stream.
        case nobody
    }

    private let countMax: Int
    private var hosts: [DeviceID: InstanceID] = [:]

    init(countMax: Int) { self.countMax = countMax }

    var count: Int { hosts.count }

    subscript(device: DeviceID) -> Route? {
        guard let instance = hosts[device] else { return nil }
        return instance.rawValue == 0 ? .nobody : .host(instance)
    }

    /// Remembers the host of a device.
    mutating func set(_ route: Route, of device: DeviceID) {
        if hosts.count >= countMax, hosts[device] == nil { forgetSome() }
        switch route {
        case .host(let instance): hosts[device] = instance
        case .nobody: hosts[device] = InstanceID(rawValue: 0)
        }
    }

    mutating func forget(_ device: DeviceID) { hosts[device] = nil }

    private mutating func forgetSome() {
        for device in hosts.keys.prefix(countMax / 16 + 1) { hosts[device] = nil }
    }
}
