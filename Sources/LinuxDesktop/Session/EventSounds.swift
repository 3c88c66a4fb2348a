// SPDX-License-Identifier: Apache-2.0

package import PushDBus
package import PushNet

/// The desktop's own setting for event sounds.
///
/// | Desktop | Setting |
/// |---|---|
/// | GNOME, Budgie, Unity, Pantheon | `event-sounds` of GSettings |
/// | MATE | `sound-enabled` of its notification daemon, in GSettings |
/// | Plasma | `Enable` of `[Sounds]` in kdeglobals |
/// | others | `gtk-enable-event-sounds` in GTK's settings.ini |
///
/// Xfce reports its setting over D-Bus: `DesktopStateSource.silence`. MATE, Cinnamon and Xfce have `event-sounds`, too,
/// for clicks and menus. There it is off by default, which says nothing about notifications, so it is ignored.
package final class EventSounds {
    private static let gnome = GSettingsSwitch.Key(
        schema: "org.gnome.desktop.sound", name: "event-sounds", path: "/org/gnome/desktop/sound/event-sounds")
    private static let mate = GSettingsSwitch.Key(
        schema: "org.mate.NotificationDaemon", name: "sound-enabled",
        path: "/org/mate/notification-daemon/sound-enabled")

    /// A setting in a file, which is small and read at each use, so that no change is missed.
    private struct FileSwitch {
        var path, group, key: String

        /// The value; nil if the file does not contain the setting.
        var isOn: Bool? {
            guard DesktopEntries.isRegularFile(path),
                let text = try? PrivateFile.read(path, byteCountMax: DesktopFile.byteCountMax),
                let value = DesktopFile(text, group: group).string(key)?.lowercased()
            else { return nil }
            return !["0", "false", "no", "off"].contains { $0.utf8.elementsEqual(value.utf8) }
        }
    }

    private let files: [FileSwitch]
    private var setting: GSettingsSwitch?

    /// Selects the setting of the desktop that `XDG_CURRENT_DESKTOP` names.
    ///
    /// - Parameters:
    ///   - connection: The session bus, driven by the caller.
    ///   - loop: The loop that drives it.
    ///   - environment: The environment, which names the desktop and the folder of its settings.
    ///   - log: Receives an event when the error output of `gsettings` is cut.
    /// - Throws: `BusError` when the bus refuses a subscription.
    package init(connection: BusConnection, loop: EventLoop, environment: [String: String], log: EventLog)
        throws(BusError)
    {
        let desktops = Set((environment["XDG_CURRENT_DESKTOP"] ?? "").split(separator: ":").map { $0.uppercased() })
        let key: GSettingsSwitch.Key?
        if desktops.contains("MATE") {
            key = Self.mate
        } else {
            key = desktops.isDisjoint(with: ["GNOME", "BUDGIE", "UNITY", "PANTHEON"]) ? nil : Self.gnome
        }
        files = key == nil ? Self.files(desktops, environment) : []
        guard let key, let program = DesktopEntries(environment: environment).program("gsettings") else { return }
        setting = try GSettingsSwitch(
            key, program: program, connection: connection, loop: loop,
            environment: environment, log: log)
    }

    /// Whether the user switched event sounds off.
    package var areOff: Bool { (setting.map(\.isOn) ?? files.lazy.compactMap(\.isOn).first) == false }

    private static func files(_ desktops: Set<String>, _ environment: [String: String]) -> [FileSwitch] {
        let home = environment["HOME"].map { "\($0)/.config" }
        guard let folder = environment["XDG_CONFIG_HOME"] ?? home, folder.utf8.first == UInt8(ascii: "/") else {
            return []
        }
        if desktops.contains("KDE") {
            return [FileSwitch(path: "\(folder)/kdeglobals", group: "Sounds", key: "Enable")]
        }
        return ["gtk-4.0", "gtk-3.0"].map {
            FileSwitch(path: "\(folder)/\($0)/settings.ini", group: "Settings", key: "gtk-enable-event-sounds")
        }
    }
}
