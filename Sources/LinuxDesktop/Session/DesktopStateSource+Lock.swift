// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// The sources that report a locked screen.
extension DesktopStateSource {
    /// systemd-logind on the system bus: the session of this process or, for a user service, the user's own.
    package static let logind = [
        property(
            .lock, of: "org.freedesktop.login1", "/org/freedesktop/login1/session/auto",
            "org.freedesktop.login1.Session", "LockedHint",
            // Changes are signaled by the session's own object, whose path is unknown; any path is accepted.
            signalPath: nil)
    ]

    /// The screen lockers of the desktops; all have the same members.
    ///
    /// A locker that only blanks the screen counts as locked, because then the user is not looking at it.
    package static let lockers = ["freedesktop", "gnome", "cinnamon", "mate", "xfce"].map { desktop in
        let name = "org.\(desktop).ScreenSaver"
        return DesktopStateSource(
            aspect: .lock, name: name, path: "/org/\(desktop)/ScreenSaver", question: (name, "GetActive", []),
            // Plasma has the object at two paths.
            signals: [(nil, name, "ActiveChanged")], signalsHaveValue: true, holds: isTrue)
    }
}
