// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCore
internal import PushNet
internal import PushSound

/// Plays sounds of apps and of the freedesktop sound theme on the user's sound server.
///
/// Players run on a thread of their own, because a sound server that hangs blocks its clients. The sound server and
/// libcanberra choose the theme. The volume control's settings for the role `event` apply, because every sound has that
/// role. The desktop's own switch is part of the decision, see `EventSounds`.
final class DesktopSounds: SoundPresenter {
    /// The maximum number of sounds that wait for the player.
    ///
    /// More would play too late, so they are skipped.
    static let waitingCountMax = 8

    private enum Job: Sendable {
        case play(Sound, appID: AppID?, appName: String)
        case stop
    }

    private let jobs: Mailbox<Job>
    /// The completions of the waiting sounds, in the order of the sounds.
    private var waiting: [(SuppressionReason?) -> Void] = []
    private let thread: Thread

    /// Starts the thread, which connects to the sound server with the first sound.
    ///
    /// - Parameters:
    ///   - loop: The event loop of the caller's thread.
    ///   - environment: The environment with the directories of the sounds.
    ///   - log: The log for sounds that could not be played.
    /// - Throws: `NetError` if the system is out of descriptors.
    init(loop: EventLoop, environment: [String: String], log: EventLog) throws(NetError) {
        let jobs = try Mailbox<Job>()
        let results = try Mailbox<SuppressionReason?>()
        thread = Thread(name: "sounds") {
            let player = AppSoundPlayer(
                sounds: AppSounds(environment: environment), builtIn: BuiltInSounds(environment: environment), log: log)
            DesktopSounds.work(jobs, results, player)
        }
        self.jobs = jobs
        try loop.attach(results) { [weak self] batch in
            for result in batch { self?.waiting.removeFirst()(result) }
        }
    }

    /// Ends the thread after its present sound, without waiting for it, because the sound server may hang.
    deinit { jobs.post(.stop) }

    func play(
        _ sound: Sound, appID: AppID?, appName: String, completion: @escaping (SuppressionReason?) -> Void
    ) {
        guard waiting.count < Self.waitingCountMax else { return completion(.tooMany) }
        waiting.append(completion)
        jobs.post(.play(sound, appID: appID, appName: appName))
    }

    /// Runs on the thread: plays one sound after the other.
    private static func work(
        _ jobs: Mailbox<Job>, _ results: Mailbox<SuppressionReason?>, _ player: AppSoundPlayer
    ) {
        do {
            let loop = try EventLoop()
            try loop.attach(jobs) { batch in
                for job in batch {
                    switch job {
                    case .stop: loop.stop()
                    case .play(let sound, let appID, let appName):
                        results.post(player.play(sound, appID: appID, appName: appName))
                    }
                }
            }
            loop.run()
        } catch {
            player.log.error("sounds_stopped", ["error": "\(error)"])
        }
    }
}

/// Chooses the file or theme sound to play, on the thread of the sounds.
private final class AppSoundPlayer {
    let log: EventLog
    private let sounds: AppSounds
    private let builtIn: BuiltInSounds
    private var player: SoundPlayer?

    init(sounds: AppSounds, builtIn: BuiltInSounds, log: EventLog) {
        self.sounds = sounds
        self.builtIn = builtIn
        self.log = log
    }

    /// Plays the first sound that works: the app's own file, a built-in one, the theme's sound of that name, the
    /// default sound.
    ///
    /// - Parameters:
    ///   - sound: The sound to play.
    ///   - appID: The app whose own sounds come first.
    ///   - appName: The description for the volume control.
    /// - Returns: The reason why no sound could be played; nil if one was.
    func play(_ sound: Sound, appID: AppID?, appName: String) -> SuppressionReason? {
        do throws(SoundError) {
            let player = try connectedPlayer()
            if case .named(let name) = sound, AppSounds.isValidName(name) {
                for file in [sounds.file(name, appID: appID), builtIn.file(name)].compactMap(\.self)
                where try plays({ () throws(SoundError) in try player.play(file: file, description: appName) }) {
                    return nil
                }
                let themeName = AppSounds.themeName(name)
                if try plays({ () throws(SoundError) in try player.play(named: themeName, description: appName) }) {
                    return nil
                }
                log.warning("sound_unknown", ["app": appID?.text ?? "", "sound": name, "played": "the default sound"])
            }
            try player.play(named: AppSounds.standardThemeName, description: appName)
            return nil
        } catch {
            guard error.remedy != .staySilent else { return .muted }
            log.warning(
                "sound_not_played", ["app": appID?.text ?? "", "code": "\(error.code)", "error": error.message])
            return .unavailable
        }
    }

    private func connectedPlayer() throws(SoundError) -> SoundPlayer {
        if let player { return player }
        let player = try SoundPlayer(applicationName: "Posthorn")
        self.player = player
        return player
    }

    /// Returns false if another sound should be tried.
    private func plays(_ attempt: () throws(SoundError) -> Void) throws(SoundError) -> Bool {
        do {
            try attempt()
            return true
        } catch {
            guard error.remedy == .chooseAnotherSound else { throw error }
            return false
        }
    }
}
