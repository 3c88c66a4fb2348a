// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet

extension Agent: StreamClientDelegate {
    /// Stores the arrivals, acknowledges them, then presents them; returns false when the database fails.
    package func streamReceived(_ arrivals: [Arrival]) -> Bool {
        let reception: Reception
        let elapsed = ElapsedClock.milliseconds()
        for case .notification(let notification) in arrivals {
            serverClock.note(
                acceptedUnixMilliseconds: notification.acceptedUnixMilliseconds, atElapsedMilliseconds: elapsed)
        }
        do {
            reception = try receiver.receive(
                arrivals, nowUnixMilliseconds: WallClock.unixMilliseconds(),
                serverUnixMilliseconds: serverClock.unixMilliseconds(atElapsedMilliseconds: elapsed))
        } catch {
            databaseFailed(error)
            return false
        }
        agentLog.info("received", ["new": "\(reception.newCount)", "repeated": "\(reception.repeatedCount)"])
        link?.outboxSender.setNeedsFlush()
        if reception.hasUnwantedChannel { link?.registrar.setNeedsFlush() }
        presentations.withdraw(reception.replaced + reception.removed)
        for (appID, badge) in reception.badges.sorted(by: { $0.key < $1.key }) { present(badge: badge, appID: appID) }
        for entry in reception.arrived { observer?.notificationArrived(entry: entry) }
        presentations.entriesArrived(reception.waiting)
        filters.entriesArrived(reception.filtering)
        for wake in reception.wakes { wakes.wake(wake) }
        if reception.newCount > 0 {
            inboxChanged()
            giveMemoryBackSoon()
        }
        return true
    }

    /// Records the connection, sends the outbox, and checks registrations.
    package func streamOpened() {
        let now = WallClock.unixMilliseconds() / 1000
        connectedSinceUnixSeconds = now
        lastError = ""
        noteLastConnected(atUnixSeconds: now)
        agentLog.info("connected", ["server": identity?.serverURL ?? ""])
        link?.outboxSender.open()
        checkRegistrations(nowUnixSeconds: now)
        checkInstallations(nowUnixSeconds: now)
        link?.registrar.open()
        observer?.statusChanged()
    }

    /// Records the end of the connection, which shows in the status and never as an alert.
    package func streamEnded(_ reason: String) { noteEnd("disconnected", reason) }

    /// Records that the server refused the device; the agent does not reconnect.
    package func streamRefused(_ reason: String) {
        isRemoved = true
        noteEnd("refused", reason)
    }

    private func noteEnd(_ event: StaticString, _ reason: String) {
        noteDisconnected()
        lastError = reason
        agentLog.warning(event, ["reason": reason])
        link?.outboxSender.close()
        link?.registrar.close()
        observer?.statusChanged()
    }
}
