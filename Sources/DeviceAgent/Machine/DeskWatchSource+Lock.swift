// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// Who tells that the screen is locked.
extension DeskWatchSource {
    /// systemd's log-in manager, on the system bus: the session of this program or, for a user service, the person's own.
    package static let logind = [
        property(
            .lock, of: "org.freedesktop.login1", "/org/freedesktop/login1/session/auto",
            "org.freedesktop.login1.Session", "LockedHint",
            // Changes come from the session's own object, whose path `auto` does not tell.
            signalPath: nil)
    ]

    /// The desktops' lockers, all with the same members.
    ///
    /// One that only blanks the screen counts: nobody looks at it.
    package static let lockers = ["freedesktop", "gnome", "cinnamon", "mate", "xfce"].map { desktop in
        let name = "org.\(desktop).ScreenSaver"
        return DeskWatchSource(
            aspect: .lock, name: name, path: "/org/\(desktop)/ScreenSaver", question: (name, "GetActive", []),
            // Plasma has the object at two paths.
            signals: [(nil, name, "ActiveChanged")], signalsHaveValue: true, holds: isTrue)
    }
}
