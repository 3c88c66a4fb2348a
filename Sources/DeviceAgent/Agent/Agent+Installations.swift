// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushSQLite

/// What was uninstalled leaves nothing behind: its registration, its row among the settings, its badge, its entries, its
/// sounds.
extension Agent {
    /// How long an app's .desktop file must be gone: upgrades replace files, and some disks are there later.
    package static let uninstalledAfterSeconds: Int64 = 7 * 24 * 3600
    private static let installationCheckInterval: Duration = .seconds(24 * 3600)

    /// Looks now, unless a connection is about to come: that looks as well, because only then the server can be told.
    func watchInstallations() {
        if link == nil { checkInstallations(nowUnixSeconds: WallClock.unixMilliseconds() / 1000) }
        scheduleInstallationCheck()
    }

    private func scheduleInstallationCheck() {
        loop.schedule(after: Self.installationCheckInterval) { [weak self] in
            self?.checkInstallations(nowUnixSeconds: WallClock.unixMilliseconds() / 1000)
            self?.scheduleInstallationCheck()
        }
    }

    /// An app that registers is there, with or without a .desktop file.
    func noteRegistration(of appID: String) {
        do {
            if surroundings.describeApp(appID) == nil { return try database.installations.remove(appID) }
            try database.installations.set(appID, goneUnixSeconds: 0)
        } catch {
            databaseFailed(error)
        }
    }

    /// Unregisters apps that were uninstalled; one that never had a .desktop file, a script perhaps, stays.
    ///
    /// - Parameter now: The wall clock, UNIX seconds.
    package func checkInstallations(nowUnixSeconds now: Int64) {
        do {
            let trustsClock = try database.transaction { () throws(SQLiteError) in
                try database.trustsClock(nowUnixSeconds: now)
            }
            for app in try database.apps.all() {
                let goneSince = try noteInstallation(of: app.appID, now)
                guard trustsClock, goneSince > 0, now - goneSince >= Self.uninstalledAfterSeconds else { continue }
                forgetUninstalled(app.appID)
            }
        } catch {
            databaseFailed(error)
        }
    }

    /// Answers since when an app is gone; 0 for one that is there or never was.
    private func noteInstallation(of appID: String, _ now: Int64) throws(SQLiteError) -> Int64 {
        let noted = try database.installations.goneUnixSeconds(appID)
        if surroundings.describeApp(appID) != nil {
            if noted != 0 { try database.installations.set(appID, goneUnixSeconds: 0) }
            return 0
        }
        guard let noted else { return 0 }
        // A clock that was ahead must not keep the app for years.
        if noted > 0, noted <= now { return noted }
        try database.installations.set(appID, goneUnixSeconds: now)
        return now
    }

    private func forgetUninstalled(_ appID: String) {
        unregister(appID: appID) { [weak self] result in
            switch result {
            case .success:
                agentLog.info("uninstalled", ["app": appID])
                self?.surroundings.soundInstaller?.removeAll(of: appID)
            case .failure(let refusal):
                // The next look asks again.
                agentLog.warning("uninstalled_but_registered", ["app": appID, "error": refusal.code.rawValue])
            }
        }
    }
}
