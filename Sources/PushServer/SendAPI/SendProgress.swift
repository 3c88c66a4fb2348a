// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore

/// The notifications of one message, on their way to the store; the context of its exchange.
///
/// At most `Limits.sendUnansweredCountMax` are at the store at the same time. If the peer closes its connection, the
/// rest is not sent.
final class SendProgress {
    private let draft: SendDraft
    private let form: SendAnswer.Form
    private let services: LoopServices
    private var rest: ArraySlice<Recipient>
    private var unansweredCount = 0
    private var result: SendAPI.Result
    /// The last reason for which a notification was refused.
    private var refusal: RejectionReason?

    init(_ draft: SendDraft, _ form: SendAnswer.Form, recipients: [Recipient], _ services: LoopServices) {
        self.draft = draft
        self.form = form
        self.services = services
        rest = recipients[...]
        result = SendAPI.Result(
            id: String(copying: draft.id.span), warnings: draft.warnings.isEmpty ? nil : draft.warnings,
            ignored: draft.message.ignored.isEmpty ? nil : draft.message.ignored)
    }

    /// Notes the named devices on which the app is not registered.
    func noteMissing(_ devices: [DeviceID]) {
        let found = Set(rest.map(\.contents.device))
        let missing = devices.filter { !found.contains($0) }.map(\.text)
        if !missing.isEmpty { result.unregistered = missing }
    }

    /// Sends the first notifications to devices.
    func begin(_ exchange: HTTPExchange, _ address: ReplyAddress) {
        exchange.context = self
        exchange.requestWasRead()
        advance(exchange, address)
    }

    /// Sends a broadcast.
    func begin(_ broadcast: Broadcast, _ exchange: HTTPExchange, _ address: ReplyAddress) {
        exchange.context = self
        exchange.requestWasRead()
        note(broadcast.uniqueID, device: nil)
        unansweredCount += 1
        services.unansweredAcceptCount += 1
        services.loop.submit(.publish(broadcast, answer: address))
    }

    /// Counts an answer of the store, and continues; nil means that the notification was accepted.
    func answered(_ reason: RejectionReason?, _ exchange: HTTPExchange, _ address: ReplyAddress) {
        unansweredCount -= 1
        if let reason {
            count(reason)
            let day = QuotaMoment(monotonic: services.loop.events.now, time: draft.acceptedAt).day
            CountedNotification(draft.quotas, day: day).refund()
        } else {
            result.accepted += 1
        }
        advance(exchange, address)
    }

    private func count(_ reason: RejectionReason) {
        result.refused = (result.refused ?? 0) + 1
        refusal = reason
        result.reason = reason.rawValue
    }

    /// Whether another notification may be passed to the store; a request with none there may always pass one.
    private var hasRoom: Bool {
        guard unansweredCount > 0 else { return true }
        return unansweredCount < Limits.sendUnansweredCountMax
            && services.unansweredAcceptCount < services.unansweredSendCountMax
    }

    private func advance(_ exchange: HTTPExchange, _ address: ReplyAddress) {
        let moment = QuotaMoment(monotonic: services.loop.events.now, time: draft.acceptedAt)
        if !draft.isAllowed(in: services.directory) {
            for _ in rest { count(.forbidden) }
            rest = []
        }
        while hasRoom, let recipient = rest.popFirst() {
            do throws(Rejection) {
                if !draft.isAdministrator {
                    try services.quotas.takeNotification(draft.quotas, to: recipient.contents, moment)
                }
            } catch {
                count(error.reason)
                continue
            }
            let notification = notification(to: recipient)
            note(notification.uniqueID, device: recipient.contents.device)
            unansweredCount += 1
            services.unansweredAcceptCount += 1
            services.loop.submit(.accept(notification, answer: address))
        }
        guard unansweredCount == 0, rest.isEmpty, !exchange.isAnswered else { return }
        finish(exchange)
    }

    private func notification(to recipient: Recipient) -> Notification {
        Notification(
            address: recipient.contents, apnsID: Array(copying: draft.id.span), uniqueID: .random(services.random),
            suffixedTopic: draft.app.topic.name.text, pushType: .alert, priority: draft.message.priority,
            expiration: draft.expiration, collapseID: draft.message.collapseID.map { Array($0.utf8) },
            payload: draft.payload, acceptedAt: draft.acceptedAt)
    }

    private func note(_ id: UniqueID, device: DeviceID?) {
        guard result.notifications.count < Limits.sendListedCountMax else { return }
        result.notifications.append(.init(deviceID: device?.text, apnsUniqueID: String(copying: id.lowerCaseText.span)))
    }

    private func finish(_ exchange: HTTPExchange) {
        exchange.context = nil
        guard result.accepted > 0 || refusal == nil else {
            return SendAnswer.refuse(
                exchange, form, Rejection(refusal ?? .serviceUnavailable), countedBy: services.metrics)
        }
        if result.accepted == 0 {
            result.detail = "The app is registered on none of these devices, so nothing was sent."
        } else {
            let now = services.loop.events.now
            services.metrics.accept.observe(nanoseconds: now.nanoseconds(since: exchange.arrivedAt))
        }
        SendAnswer.send(exchange, result, draft.message, draft.app.topic.name, form)
    }
}
