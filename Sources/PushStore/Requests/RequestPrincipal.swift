// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The principal to which a waiting request is attributed.
///
/// The requests of one principal keep their order.
package enum RequestPrincipal: Hashable {
    /// The broadcasts of one app.
    case broadcasts(TopicID)
    /// A device, by its credential.
    ///
    /// The device need not exist, and the device ID alone would let anybody fill the queue of another device.
    case device(DeviceCredential)
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
        case .attach(let credential, _, _): .device(credential)
        case .perform(let request, _): request.principal
        case .accept, .acknowledge, .detach, .usesDirectory, .host: .server
        }
    }
}

extension StoreTask: FairTask {
    package var principal: RequestPrincipal { command.principal }
}

extension StoreRequest {
    /// The principal of the request.
    package var principal: RequestPrincipal {
        switch self {
        case .enrol: .newDevices
        case .device(_, let credential): .device(credential)
        case .allDevices(.recipients(let topic, _, _)): .broadcasts(topic)
        case .allDevices(.trace(let query)) where query.isForWebhook: .server
        case .administer, .allDevices, .backup, .cluster: .administrator
        case .control(let request): request.principal
        }
    }
}

extension ControlRequest {
    fileprivate var principal: RequestPrincipal {
        switch self {
        case .createChannel(_, let topic, _, _), .channel(_, let topic, _), .channels(let topic, _),
            .removeChannel(_, let topic, _):
            .channels(topic: topic)
        case .advanceWebhook, .noteWebhookProblem, .quota(.note): .server
        case .addApp, .changeApp, .apps, .app, .removeApp, .addKey, .keys, .revokeKey, .addCertificate, .certificates,
            .revokeCertificate, .addEnrolmentCode, .enrolmentCodes, .revokeEnrolmentCode, .sendToken, .quota, .policy,
            .announceAuthorities, .setWebhook, .removeWebhook:
            .administrator
        }
    }
}
