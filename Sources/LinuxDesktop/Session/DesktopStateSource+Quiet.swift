// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// The sources that report that do-not-disturb is on.
///
/// GNOME, Cinnamon and MATE store it in GSettings, which is not a service on the bus: `QuietSettings` reads it.
extension DesktopStateSource {
    /// All of these sources; they are on the session bus.
    package static let quiet = [dunst, plasma, mako, xfce, swaync]

    private static let dunst = property(
        .quiet, of: NotificationServer.busName, NotificationServer.path, "org.dunstproject.cmd0", "paused",
        signalPath: NotificationServer.path)

    private static let plasma = property(
        .quiet, of: NotificationServer.busName, NotificationServer.path, NotificationServer.busName, "Inhibited",
        signalPath: NotificationServer.path)

    /// In mako, do-not-disturb is a convention: a mode of this name in the user's configuration.
    ///
    /// Before version 1.8, mako sends no signal when the modes change.
    private static let mako = DesktopStateSource(
        aspect: .quiet, name: NotificationServer.busName, path: "/fr/emersion/Mako",
        question: ("fr.emersion.Mako", "ListModes", []),
        signals: [("/fr/emersion/Mako", "org.freedesktop.DBus.Properties", "PropertiesChanged")],
        holds: { answer in
            (answer.first?.arrayValue ?? []).contains { $0 == .string("do-not-disturb") || $0 == .string("dnd") }
        })

    private static let xfce = DesktopStateSource(
        aspect: .quiet, name: "org.xfce.Xfconf", path: "/org/xfce/Xfconf",
        question: ("org.xfce.Xfconf", "GetProperty", [.string("xfce4-notifyd"), .string("/do-not-disturb")]),
        signals: ["PropertyChanged", "PropertyRemoved"].map { ("/org/xfce/Xfconf", "org.xfce.Xfconf", $0) },
        holds: isTrue)

    private static let swaync = DesktopStateSource(
        aspect: .quiet, name: "org.erikreider.swaync.cc", path: "/org/erikreider/swaync/cc",
        question: ("org.erikreider.swaync.cc", "GetDnd", []),
        signals: ["Subscribe", "SubscribeV2"].map { ("/org/erikreider/swaync/cc", "org.erikreider.swaync.cc", $0) },
        holds: isTrue)
}
