// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// The sources that report that notifications are to make no sound.
extension DesktopStateSource {
    /// All of these sources; they are on the session bus.
    package static let silence = [xfceSounds]

    /// The setting "Mute all sounds" of Xfce's notification daemon, from version 0.8.
    private static let xfceSounds = DesktopStateSource(
        aspect: .silence, name: "org.xfce.Xfconf", path: "/org/xfce/Xfconf",
        question: ("org.xfce.Xfconf", "GetProperty", [.string("xfce4-notifyd"), .string("/mute-sounds")]),
        signals: ["PropertyChanged", "PropertyRemoved"].map { ("/org/xfce/Xfconf", "org.xfce.Xfconf", $0) },
        holds: isTrue)
}
