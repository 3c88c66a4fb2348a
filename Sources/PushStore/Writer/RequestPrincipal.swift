// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The principal to which a waiting request is attributed.
///
/// The requests of one principal keep their order.
enum RequestPrincipal: Hashable {
    /// The broadcasts of one app.
    case broadcasts(TopicID)
    /// A device, by the hash of its secret.
    ///
    /// The device need not exist.
    case device(secretHash: [UInt8])
    /// All devices that enrol, because they have no identity yet.
    case newDevices
    /// The requests of providers and administrators about the channels of one app.
    case channels(topic: TopicName)
    case administrator
    /// The server's own requests for webhooks and quotas.
    case server

    /// A group of principals.
    ///
    /// Lanes take turns, so that many principals of one kind do not delay the other kinds.
    enum Lane: Int, CaseIterable {
        case broadcasts, devices, administration
    }

    var lane: Lane {
        switch self {
        case .broadcasts: .broadcasts
        case .device, .newDevices: .devices
        case .channels, .administrator, .server: .administration
        }
    }

    /// The maximum number of waiting requests; more are refused.
    var waitingCountMax: Int {
        switch self {
        case .device: Limits.waitingRequestPerDeviceCountMax
        case .broadcasts, .newDevices, .channels, .administrator: WriterLimits.waitingRequestCountMax
        case .server: .max
        }
    }
}

extension StoreCommand {
    /// The principal of a command that is executed in a transaction.
    var principal: RequestPrincipal {
        switch self {
        case .publish(let broadcast, _): .broadcasts(broadcast.topic)
        case .attach(let secretHash, _, _): .device(secretHash: secretHash)
        case .perform(let request, _): request.principal
        case .accept, .acknowledge, .detach, .host: .server
        }
    }
}

extension StoreRequest {
    fileprivate var principal: RequestPrincipal {
        switch self {
        case .register(let hash, _, _), .subscribe(let hash, _, _), .unsubscribe(let hash, _, _),
            .subscriptions(let hash, _), .unregister(let hash, _), .setFilter(let hash, _), .setPower(let hash, _),
            .acknowledge(let hash, _), .identify(let hash), .removeSelf(let hash), .policy(.ofDevice(let hash)),
            .authority(.confirm(let hash, _)):
            .device(secretHash: hash)
        case .enrol: .newDevices
        case .createChannel(_, let topic, _, _), .channel(_, let topic, _), .channels(let topic, _),
            .removeChannel(_, let topic, _):
            .channels(topic: topic)
        case .advanceWebhook, .noteWebhookProblem, .quota(.note): .server
        case .trace(let query): query.isForWebhook ? .server : .administrator
        case .addApp, .changeApp, .apps, .app, .removeApp, .addKey, .keys, .revokeKey, .addCertificate, .certificates,
            .revokeCertificate, .addEnrolmentCode, .enrolmentCodes, .revokeEnrolmentCode, .devices, .device,
            .renameDevice, .removeDevice, .expireDevice, .counts, .backup,
            .quota, .policy, .authority, .setWebhook, .removeWebhook, .sendToken, .longestQueues:
            .administrator
        case .recipients(let topic, _, _): .broadcasts(topic)
        }
    }
}
