// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushCore
internal import PushNet
internal import PushSQL

/// Removes apps that were uninstalled: registration, settings, badge, inbox entries and sounds.
package final class InstallationService {
    /// The time in seconds for which an app's .desktop file must be missing before the app counts as uninstalled.
    ///
    /// Upgrades replace files, and some disks are mounted late.
    static let uninstalledAfterSeconds: Int64 = 7 * 24 * 3600
    private static let checkInterval: Duration = .seconds(24 * 3600)

    private let loop: EventLoop
    private let database: AgentDatabase
    private let environment: AgentEnvironment
    private let link: ServerLink
    private let failures: DatabaseFailures
    private let registrations: RegistrationService

    init(_ context: AgentContext, _ registrations: RegistrationService) {
        loop = context.loop
        database = context.database
        environment = context.environment
        link = context.link
        failures = context.failures
        self.registrations = registrations
    }

    /// Checks the installed apps now and then once a day.
    ///
    /// With a server the first check waits for the connection, because an app can only be unregistered then.
    func start() {
        if link.clients == nil { check(now: .now.roundedDownToSeconds) }
        scheduleCheck()
    }

    private func scheduleCheck() {
        loop.schedule(after: Self.checkInterval) { [weak self] in
            self?.check(now: .now.roundedDownToSeconds)
            self?.scheduleCheck()
        }
    }

    /// Unregisters apps that were uninstalled.
    ///
    /// An app that never had a .desktop file, such as a script, stays registered.
    ///
    /// - Parameter now: The wall clock, in whole seconds.
    func check(now: Timestamp) {
        do {
            let trustsClock = try database.transaction { () throws(SQLError) in
                try database.trustsClock(now: now)
            }
            for app in try database.apps.all() {
                if let description = environment.describeApp(app.appID) {
                    try registrations.verify(app, name: description.name, icon: description.icon)
                }
                guard let goneSince = try noteInstallation(of: app.appID, now), trustsClock,
                    now.seconds(since: goneSince) >= Self.uninstalledAfterSeconds
                else { continue }
                forgetUninstalled(app.appID)
            }
        } catch {
            failures.report(error)
        }
    }

    /// Returns the time since which an app's .desktop file is missing; nil if it exists or never existed.
    private func noteInstallation(of appID: AppID, _ now: Timestamp) throws(SQLError) -> Timestamp? {
        let noted = try database.installations.goneSince(appID)
        if environment.describeApp(appID) != nil {
            if noted != .unixEpoch { try database.installations.set(appID, goneSince: .unixEpoch) }
            return nil
        }
        guard let noted else { return nil }
        // A stored time in the future comes from a wrong clock: restart the period.
        if noted > .unixEpoch, noted <= now { return noted }
        try database.installations.set(appID, goneSince: now)
        return now
    }

    private func forgetUninstalled(_ appID: AppID) {
        link.startTask { [registrations, environment] in
            do throws(AgentRefusal) {
                try await registrations.unregister(appID: appID)
                agentLog.info("uninstalled", ["app": appID.text])
                environment.soundInstaller?.removeAll(of: appID)
            } catch {
                // The next check tries again.
                agentLog.warning("uninstalled_but_registered", ["app": appID.text, "error": error.code.rawValue])
            }
        }
    }
}
