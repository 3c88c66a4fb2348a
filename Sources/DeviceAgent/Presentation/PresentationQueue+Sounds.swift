// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushSQL

/// Sounds that the agent plays: a sound that could not be played is not reported as played.
extension PresentationQueue {
    /// Plays the sound of an alert on the screen.
    func play(_ sound: Sound, of number: EntryID, _ app: RegisteredApp) {
        start(sound, app) { [weak self] reason in
            guard let self, let reason else { return }
            retry.write { [weak self] () throws(SQLError) in
                try self?.database.inbox.note(reason, on: .sound, of: number)
                self?.onChange?()
            }
        }
    }

    /// Plays the sound of a notification without an alert, and stores the outcome.
    func playAlone(_ sound: Sound?, of entry: InboxEntry, _ app: RegisteredApp) {
        let number = entry.entry
        guard let sound else { preconditionFailure("a notification without alert and sound is not presented") }
        start(sound, app) { [weak self] reason in
            guard let self, let reason else {
                self?.finish(
                    number, .shown(playsSound: true), app, .alert, sound: nil, reason: TraceStep.soundOnly.word)
                return
            }
            retry.write { [weak self] () throws(SQLError) in try self?.settle(number, silentFor: reason) }
        }
    }

    private func start(_ sound: Sound, _ app: RegisteredApp, _ completion: @escaping (SuppressionReason?) -> Void) {
        guard let sounds else { return completion(.unavailable) }
        sounds.play(sound, appID: app.appID, appName: app.name, completion: completion)
    }

    /// Stores that a notification with only a sound was not shown, unless it set a badge.
    private func settle(_ number: EntryID, silentFor reason: SuppressionReason) throws(SQLError) {
        try database.transaction { () throws(SQLError) in
            try database.inbox.note(reason, on: .sound, of: number)
            guard let entry = try database.inbox.entry(number) else { return }
            if entry.effects.split(separator: " ").contains("badge") {
                let reason = TraceDetail.badgeOnly.word
                _ = try database.finish(number, from: [.claimed], to: .shown, .shown, reason: reason)
            } else {
                try database.suppress(number, reason, from: [.claimed])
            }
        }
        onOutcome?()
        onChange?()
    }
}
