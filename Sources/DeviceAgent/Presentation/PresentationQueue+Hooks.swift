// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushSQLite

/// Hooks run beside the screen, and in its place where there is none.
///
/// In its place, an alert waits until its hook has begun, and is shown then: what has not begun when the agent ends waits for
/// its next run. Beside it, what has not begun is in a table. One that has begun is not begun again, whatever becomes of it.
extension PresentationQueue {
    /// An alert was handed to what shows alerts: runs its hook, or lets it wait.
    func conclude(
        _ entry: InboxEntry, _ app: RegisteredApp, _ style: AlertStyle, _ presented: AlertPresented, sound: Sound?
    ) {
        let number = entry.entry
        guard case .unavailable(let reason) = presented else {
            let hook: HookWait? = startHook(beside: entry) ? nil : .noRoom
            return finish(number, presented, app, style, sound: sound, hook: hook)
        }
        // What is refused for a moment is shown later, and its hook runs then.
        guard !canShow(style), let hooks, hooks.hasHook(for: app.appID) else {
            return finish(number, presented, app, style, sound: sound)
        }
        guard hooks.hasRoom else {
            return finish(number, .unavailable("other hooks run"), app, style, sound: sound, hook: .noRoom)
        }
        switch hooks.start(entry) {
        case .none: finish(number, .unavailable(reason), app, style, sound: sound)
        case .begun: finish(number, .shown(playsSound: false), app, style, sound: sound)
        case .failed(let text):
            loop.schedule(after: hooks.restartPause) { [weak self] in self?.presentNext() }
            let end = loop.monotonicNanoseconds &+ UInt64(hooks.restartPause / .nanoseconds(1))
            finish(number, .unavailable(text), app, style, sound: sound, hook: .pause(untilNanoseconds: end))
        }
    }

    // MARK: In the place of a screen

    /// Whether a hook can show what waits for something else, now.
    func canRunHook(_ parked: Parked) -> Bool {
        guard let hooks, hooks.hasRoom else { return false }
        return switch parked.hook {
        // One may have come since.
        case .missing: hooks.hasHook(for: parked.appID)
        case .noRoom: true
        case .pause(let end): loop.monotonicNanoseconds >= end
        }
    }

    /// Where nothing shows alerts, what has a hook waits for that one: there is more room for it than for what is to be
    /// seen.
    func lineUpForHooks() throws(SQLiteError) {
        defer { arrived = [] }
        guard let hooks, !canShow(.banner), !canShow(.alert) else { return }
        for number in arrived where parked[number] == nil {
            guard let appID = try database.inbox.entry(number)?.appID, hooks.hasHook(for: appID) else { continue }
            parked[number] = Parked(appID: appID, style: .banner, hook: .noRoom)
        }
    }

    /// What is too much of what waits, oldest first.
    func surplus() -> Set<Int64> {
        let (hooked, others) = (waiting.filter(isForHook), waiting.filter { !isForHook($0) })
        return Set(
            hooked.prefix(max(0, hooked.count - Limits.hookWaitingCountMax))
                + others.prefix(max(0, others.count - Self.waitingCountMax)))
    }

    private func isForHook(_ number: Int64) -> Bool {
        switch parked[number]?.hook {
        case .noRoom, .pause: true
        case .missing, nil: false
        }
    }

    // MARK: Beside a screen

    /// Starts the hook of what is on the screen; false when it has to wait for others.
    private func startHook(beside entry: InboxEntry) -> Bool {
        guard let hooks, hooks.hasHook(for: entry.appID) else { return true }
        guard hooks.hasRoom, hooksDue.isEmpty else { return false }
        start(hooks, entry)
        return true
    }

    private func start(_ hooks: HookRunner, _ entry: InboxEntry) {
        guard case .failed(let text) = hooks.start(entry) else { return }
        // What becomes of the entry is written first.
        loop.atEndOfTurn { hooks.onFailure?(entry.entry, text) }
    }

    /// A hook has to wait, and the database knows.
    func hookIsDue(_ number: Int64) {
        hooksDue.append(number)
        startDueHooks()
    }

    /// A hook has ended, or the database takes something again.
    func hookHasRoom() {
        startDueHooks()
        presentNext()
    }

    /// Starts what there is room for.
    func startDueHooks() {
        guard let hooks, !retry.isWaiting else { return }
        do {
            while hooksDue.count > Limits.hookWaitingCountMax, let number = hooksDue.first {
                try database.hooks.remove(number)
                hooksDue.removeFirst()
                hooks.onFailure?(number, "too many hooks waited")
            }
            while hooks.hasRoom, let number = hooksDue.first {
                // One that has gone meanwhile took its row along.
                let entry = try database.inbox.entry(number)
                try database.hooks.remove(number)
                hooksDue.removeFirst()
                if let entry { start(hooks, entry) }
            }
        } catch {
            retry.failed(error)
        }
    }
}
