// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore

/// Sends a message of a script: checks its payload once, finds the devices, and passes a notification for each to the
/// store.
final class SendPublisher {
    /// The party that sends.
    struct Sender {
        /// The ID in the quotas of keys.
        var quotaID: String
        /// The hash of the send token; nil for an administrator, for whom no rates and quotas apply.
        var tokenHash: [UInt8]?

        var isAdministrator: Bool { tokenHash == nil }
    }

    private let services: LoopServices
    private let validator = PayloadValidator()

    init(_ services: LoopServices) { self.services = services }

    /// Sends a message and answers the request when the store has accepted all notifications.
    func publish(
        _ message: SendMessage, to app: TopicDirectory.Entry, from sender: Sender, _ form: SendAnswer.Form,
        _ exchange: HTTPExchange, _ connection: ServerConnection
    ) {
        do throws(Rejection) {
            guard services.unansweredAcceptCount < services.unansweredSendCountMax else {
                throw Rejection(.serviceUnavailable)
            }
            let draft = try makeDraft(message, app, sender)
            switch message.recipients {
            case .channel(let channel): try broadcast(draft, to: channel, form, exchange, connection)
            case .all: look(draft, devices: nil, form, exchange, connection)
            case .devices(let devices): look(draft, devices: devices, form, exchange, connection)
            }
        } catch {
            SendAnswer.refuse(exchange, form, error, countedBy: services.metrics)
        }
    }

    private func makeDraft(
        _ message: SendMessage, _ app: TopicDirectory.Entry, _ sender: Sender
    ) throws(Rejection) -> SendDraft {
        guard !message.isEmpty else {
            throw Rejection(.payloadEmpty, "There is nothing to show. Send a text, a title, a badge or a payload.")
        }
        let now = Timestamp.now
        let moment = QuotaMoment(monotonic: services.loop.events.now, time: now)
        let quotas =
            sender.isAdministrator
            ? RequestQuotas() : services.quotas.requestQuotas(key: sender.quotaID, app.topic, moment)
        try services.quotas.takeRequest(quotas, moment)
        let payload = message.payload
        let byteCountMax = PushType.alert.payloadByteCountMax
        guard payload.count <= byteCountMax else {
            throw Rejection(
                .payloadTooLarge,
                "The notification has \(payload.count) bytes as an APNs payload; at most \(byteCountMax) are possible. "
                    + "Shorten the text.")
        }
        let result = try validator.validate(payload, .alert, of: app, on: nil, isRequested: false, now: now)
        return SendDraft(
            message: message, app: app, payload: payload, quotas: quotas, tokenHash: sender.tokenHash,
            id: UniqueID.random(services.random).lowerCaseText, acceptedAt: now,
            warnings: result.warnings?.lines ?? [])
    }

    // MARK: A channel

    private func broadcast(
        _ draft: SendDraft, to channel: ChannelID, _ form: SendAnswer.Form, _ exchange: HTTPExchange,
        _ connection: ServerConnection
    ) throws(Rejection) {
        guard draft.app.topic.allowsBroadcasts else {
            let name = draft.app.topic.name
            throw Rejection(
                .featureNotEnabled, "Allow broadcasts for the app: posthorn app set \(name) --broadcasts on.")
        }
        try services.quotas.takeNotification(draft.quotas, to: nil, moment(of: draft))
        let broadcast = Broadcast(
            channel: channel, topic: draft.app.topic.id, environment: .production,
            requestID: Array(copying: draft.id.span), uniqueID: .random(services.random),
            suffixedTopic: draft.app.topic.name.text + PushType.liveactivity.topicSuffix,
            priority: draft.message.priority, expiration: draft.expiration ?? Timestamp(unixSeconds: 0),
            payload: draft.payload, acceptedAt: draft.acceptedAt)
        let progress = SendProgress(draft, form, recipients: [], services)
        progress.begin(broadcast, exchange, connection.address(of: exchange))
    }

    // MARK: Devices

    private func look(
        _ draft: SendDraft, devices: [DeviceID]?, _ form: SendAnswer.Form, _ exchange: HTTPExchange,
        _ connection: ServerConnection
    ) {
        let services = services
        let request = AllDevicesRequest.recipients(
            draft.app.topic.id, devices: devices, countMax: Limits.sendRecipientCountMax)
        services.perform(.allDevices(request), for: exchange, on: connection) { result, exchange in
            switch result {
            case .success(.recipients(let recipients, let isComplete)):
                guard isComplete else {
                    return SendAnswer.refuse(
                        exchange, form, .tooManyDevices,
                        "More than \(Limits.sendRecipientCountMax) devices have the app, so nothing was sent. "
                            + "Use a channel.", countedBy: services.metrics)
                }
                let progress = SendProgress(draft, form, recipients: recipients, services)
                if let devices { progress.noteMissing(devices) }
                progress.begin(exchange, connection.address(of: exchange))
            case .success: ControlAnswer.refuseUnexpected(exchange, services.context.log)
            case .failure(let refusal):
                SendAnswer.refuse(
                    exchange, form, SendRefusal(refusal), refusal.detail, countedBy: services.metrics)
            }
        }
    }

    private func moment(of draft: SendDraft) -> QuotaMoment {
        QuotaMoment(monotonic: services.loop.events.now, time: draft.acceptedAt)
    }
}

/// A checked message, before its recipients are known.
struct SendDraft {
    let message: SendMessage
    let app: TopicDirectory.Entry
    let payload: [UInt8]
    let quotas: RequestQuotas
    /// The hash of the send token; nil for an administrator.
    let tokenHash: [UInt8]?
    /// The ID of all notifications of the message, for `posthorn trace`.
    let id: InlineArray<36, UInt8>
    let acceptedAt: Timestamp
    let warnings: [String]

    var isAdministrator: Bool { tokenHash == nil }

    /// Returns whether the app still exists, and the token too; they may be removed before all devices are notified.
    func isAllowed(in directory: TopicDirectory) -> Bool {
        directory.topic(app.topic.id) != nil && (tokenHash.map { directory.sendToken($0) != nil } ?? true)
    }

    /// The `apns-expiration`; nil for 30 days.
    var expiration: Timestamp? {
        message.lifeSeconds.map { $0 == 0 ? Timestamp(unixSeconds: 0) : acceptedAt.advanced(bySeconds: $0) }
    }
}
