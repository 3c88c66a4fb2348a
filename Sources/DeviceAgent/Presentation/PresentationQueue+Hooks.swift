// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL

/// Runs hooks together with a presenter, or in place of a missing one.
///
/// Where a hook replaces the presenter, the alert waits until its hook has started, and counts as shown then. If the
/// agent ends before, the alert waits for the next run.
///
/// Where a hook runs together with a presenter, a table stores the hooks that have not started yet. A hook that has
/// started is never started again, even if it fails.
extension PresentationQueue {
    /// Handles the presenter's result for an alert: starts its hook or queues it.
    func conclude(
        _ entry: InboxEntry, _ app: RegisteredApp, _ style: AlertStyle, _ presented: AlertPresented, sound: Sound?
    ) {
        let number = entry.entry
        guard case .unavailable(let reason) = presented else {
            let hook: HookWait? = startHook(beside: entry) ? nil : .noRoom
            return finish(number, presented, app, style, sound: sound, hook: hook)
        }
        // A temporary refusal: the alert is shown later, and its hook runs then.
        guard !canShow(style), let hooks, hooks.hasHook(for: app.appID) else {
            return finish(number, presented, app, style, sound: sound)
        }
        guard hooks.hasRoom else {
            let reason = "waiting for other hooks to end"
            return finish(number, .unavailable(reason), app, style, sound: sound, hook: .noRoom)
        }
        switch hooks.start(entry) {
        case .none: finish(number, .unavailable(reason), app, style, sound: sound)
        case .begun: finish(number, .shown(playsSound: false), app, style, sound: sound)
        case .failed(let text):
            loop.schedule(after: hooks.restartPause) { [weak self] in self?.presentNext() }
            let end = loop.now.advanced(by: hooks.restartPause)
            finish(number, .unavailable(text), app, style, sound: sound, hook: .pause(until: end))
        }
    }

    // MARK: Hooks that replace a presenter

    /// Returns whether a hook can now show an alert that waits for a presenter.
    func canRunHook(_ entry: WaitingEntry) -> Bool {
        guard let hooks, hooks.hasRoom else { return false }
        return switch entry.hook {
        // A hook may have been installed since.
        case .missing: hooks.hasHook(for: entry.appID)
        case .noRoom: true
        case .pause(let end): loop.now >= end
        }
    }

    /// Queues arrived entries for their hooks if no presenter is available; their limit is higher than that of entries
    /// that wait for a presenter.
    func lineUpForHooks() throws(SQLError) {
        defer { arrived = [] }
        guard let hooks, !canShow(.banner), !canShow(.alert) else { return }
        for number in arrived where waitingEntries[number] == nil {
            guard let appID = try database.inbox.entry(number)?.appID, hooks.hasHook(for: appID) else { continue }
            waitingEntries[number] = WaitingEntry(appID: appID, style: .banner, hook: .noRoom)
        }
    }

    /// Returns the oldest entries above the limits on waiting entries.
    func surplus() -> Set<EntryID> {
        let (hooked, others) = (waiting.filter(isForHook), waiting.filter { !isForHook($0) })
        return Set(
            hooked.prefix(max(0, hooked.count - Limits.hookWaitingCountMax))
                + others.prefix(max(0, others.count - Self.waitingCountMax)))
    }

    private func isForHook(_ number: EntryID) -> Bool {
        switch waitingEntries[number]?.hook {
        case .noRoom, .pause: true
        case .missing, nil: false
        }
    }

    // MARK: Hooks next to a presenter

    /// Starts the hook of an alert on the screen; returns false when it has to wait for other hooks.
    private func startHook(beside entry: InboxEntry) -> Bool {
        guard let hooks, hooks.hasHook(for: entry.appID) else { return true }
        guard hooks.hasRoom, hooksDue.isEmpty else { return false }
        start(hooks, entry)
        return true
    }

    private func start(_ hooks: HookRunner, _ entry: InboxEntry) {
        guard case .failed(let text) = hooks.start(entry) else { return }
        // The entry's outcome is stored first; the failure replaces its reason.
        loop.atEndOfTurn { hooks.onFailure?(entry.entry, text) }
    }

    /// Queues a hook; the database has it already.
    func hookIsDue(_ number: EntryID) {
        hooksDue.append(number)
        startDueHooks()
    }

    /// Resumes after a hook has ended, or after the database works again.
    func hookHasRoom() {
        startDueHooks()
        presentNext()
    }

    /// Starts queued hooks while slots are free.
    func startDueHooks() {
        guard let hooks, !retry.isWaiting else { return }
        do {
            while hooksDue.count > Limits.hookWaitingCountMax, let number = hooksDue.first {
                try database.hooks.remove(number)
                hooksDue.removeFirst()
                hooks.onFailure?(number, "too many alerts were waiting for hooks")
            }
            while hooks.hasRoom, let number = hooksDue.first {
                // An entry that was removed meanwhile has no row; removing its number does nothing.
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
