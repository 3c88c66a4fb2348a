// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

extension Agent: StreamClientDelegate {
    /// Writes, then acknowledges, then presents.
    package func streamReceived(_ arrivals: [Arrival]) -> Bool {
        let reception: Reception
        do {
            reception = try receiver.receive(arrivals, nowUnixMilliseconds: WallClock.unixMilliseconds())
        } catch {
            databaseFailed(error)
            return false
        }
        agentLog.info("received", ["new": "\(reception.newCount)", "repeated": "\(reception.repeatedCount)"])
        link?.uplink.setNeedsFlush()
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

    /// Notes it, and sends what waited.
    package func streamOpened() {
        connectedSinceUnixSeconds = WallClock.unixMilliseconds() / 1000
        lastError = ""
        agentLog.info("connected", ["server": identity?.serverURL ?? ""])
        link?.uplink.open()
        checkRegistrations(nowUnixSeconds: connectedSinceUnixSeconds ?? 0)
        checkInstallations(nowUnixSeconds: connectedSinceUnixSeconds ?? 0)
        link?.registrar.open()
        // What the server knows of it ends with each stream.
        if savesPower { tellPower() }
        observer?.statusChanged()
    }

    /// Lets the server gather what has no haste while the machine runs on its battery.
    func tellPower() {
        guard let link, link.stream.isOpen else { return }
        link.session.client.setPower(.init(saving: savesPower)) { result in
            if case .failure(let error) = result { agentLog.warning("power_not_told", ["error": error.message]) }
        }
    }

    /// Notes it: trouble with the connection is a line in the status, never an alert.
    package func streamEnded(_ reason: String) {
        noteDisconnected()
        lastError = reason
        agentLog.warning("disconnected", ["reason": reason])
        link?.uplink.close()
        link?.registrar.close()
        observer?.statusChanged()
    }

    /// Notes it, and does not ask again.
    package func streamRefused(_ reason: String) {
        noteDisconnected()
        lastError = reason
        agentLog.warning("refused", ["reason": reason])
        link?.uplink.close()
        link?.registrar.close()
        observer?.statusChanged()
    }
}
