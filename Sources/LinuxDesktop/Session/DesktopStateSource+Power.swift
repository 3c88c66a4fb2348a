// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// The sources that report that the machine saves power.
extension DesktopStateSource {
    /// UPower while the machine runs on battery, and power-profiles-daemon while the profile is `power-saver`.
    ///
    /// Both are on the system bus.
    package static let power =
        [
            property(
                .power, of: "org.freedesktop.UPower", "/org/freedesktop/UPower", "org.freedesktop.UPower", "OnBattery",
                signalPath: "/org/freedesktop/UPower")
        ] + profileDaemons.map(profiles)

    /// The name before version 0.20 and the name since; newer versions have both.
    private static let profileDaemons = [
        ("net.hadess.PowerProfiles", "/net/hadess/PowerProfiles"),
        ("org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles"),
    ]

    private static func profiles(_ name: String, _ path: String) -> DesktopStateSource {
        var source = property(.power, of: name, path, name, "ActiveProfile", signalPath: path)
        source.holds = { $0.first?.withoutVariant == .string("power-saver") }
        return source
    }
}
