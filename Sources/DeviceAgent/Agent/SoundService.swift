// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushCore
internal import PushNet
internal import PushSQL

/// The sounds that an app can name.
package final class SoundService {
    /// A sound that an app can name.
    struct ListedSound: Sendable, Equatable {
        var name: String
        /// `app` for a sound of the app itself, otherwise `built-in`.
        var origin: String
    }

    private let database: AgentDatabase
    private let environment: AgentEnvironment
    private let failures: DatabaseFailures

    init(_ context: AgentContext) {
        database = context.database
        environment = context.environment
        failures = context.failures
    }

    /// Returns the sounds that an app can name, its own first; nil selects the built-in ones.
    func all(appID: AppID?) throws(AgentRefusal) -> [ListedSound] {
        if let appID { _ = try registered(appID) }
        return environment.soundInstaller?.sounds(of: appID).map { known in
            ListedSound(name: known.name, origin: known.isOfApp ? "app" : "built-in")
        } ?? []
    }

    /// Validates a sound file and copies it to the app's sounds; returns the sound's name.
    func install(path: String, appID: AppID, name: String) throws(AgentRefusal) -> String {
        _ = try registered(appID)
        let installed: String
        do throws(SoundInstallError) {
            guard path.utf8.first == UInt8(ascii: "/") else {
                throw SoundInstallError("'\(path)' is not an absolute path.")
            }
            guard let installer = environment.soundInstaller else {
                throw SoundInstallError("this agent cannot play sounds, because it runs without a desktop.")
            }
            installed = try installer.install(path, for: appID, name: name)
        } catch {
            throw AgentRefusal(error)
        }
        agentLog.info("sound_installed", ["app": appID.text, "sound": installed])
        return installed
    }

    /// Removes one of an app's own sounds.
    func remove(_ name: String, appID: AppID) throws(AgentRefusal) {
        _ = try registered(appID)
        guard environment.soundInstaller?.remove(name, of: appID) == true else {
            throw AgentRefusal(.unknownSound, "App '\(appID)' has no sound '\(name)'.")
        }
    }

    /// Plays a sound as a notification of the app would, as a preview for the user.
    func play(_ name: String, appID: AppID?) throws(AgentRefusal) {
        let app = if let appID { try registered(appID) } else { nil as RegisteredApp? }
        guard name.isEmpty || environment.soundInstaller?.knows(name, of: appID) == true else {
            throw AgentRefusal(.unknownSound, noSound(name, for: appID))
        }
        let sound = name.isEmpty ? Sound.standard : .named(name)
        environment.sounds?.play(sound, appID: appID, appName: app?.name ?? "Posthorn") { _ in }
    }

    /// Returns an error text for an unknown sound, with the command that lists the known ones.
    func noSound(_ name: String, for appID: AppID?) -> String {
        guard environment.soundInstaller?.sounds(of: appID).isEmpty == false else {
            return "There is no sound '\(name)'. No sounds are installed, not even the built-in ones."
        }
        let command = appID.map { "posthorn sound list \($0)" } ?? "posthorn sound list"
        return "There is no sound '\(name)'. Run '\(command)' to list the sounds."
    }

    private func registered(_ appID: AppID) throws(AgentRefusal) -> RegisteredApp {
        let app = try failures.refusing { () throws(SQLError) in try database.apps.app(id: appID) }
        guard let app else { throw .unknownApp(appID) }
        return app
    }
}
