// SPDX-License-Identifier: Apache-2.0

/// The disk access that a command needs, in ascending order.
///
/// A full disk allows only the lower ones.
enum DiskAccess: Int {
    /// The command writes nothing.
    case reading
    /// The command deletes or marks rows.
    case shrinking
    /// The command adds rows.
    case growing
}

extension StoreCommand {
    /// The disk access that the command needs.
    var need: DiskAccess {
        switch self {
        case .accept: .growing
        case .publish(let broadcast, _): broadcast.isNowOrNever ? .reading : .growing
        case .attach, .detach, .host: .reading
        case .acknowledge: .shrinking
        case .perform(let request, _): request.need
        }
    }
}

extension StoreRequest {
    /// The disk access that the request needs.
    fileprivate var need: DiskAccess {
        switch self {
        case .quota(let request): request.need
        case .policy(let request): request.need
        case .authority(.trust): .reading
        case .authority: .shrinking
        case .sendToken(let request): request.need
        case .enrol, .register, .setFilter, .addApp, .changeApp, .addKey, .addEnrolmentCode, .addCertificate,
            .subscribe,
            .createChannel, .setWebhook, .noteWebhookProblem, .renameDevice:
            .growing
        case .unregister, .acknowledge, .removeSelf, .removeApp, .revokeKey, .removeDevice, .revokeCertificate,
            .unsubscribe, .removeChannel, .expireDevice, .removeWebhook, .advanceWebhook, .revokeEnrolmentCode:
            .shrinking
        case .setPower, .apps, .app, .keys, .devices, .device, .counts, .certificates, .channel, .channels,
            .subscriptions, .trace, .backup, .identify, .enrolmentCodes, .recipients,
            .longestQueues:
            .reading
        }
    }
}

extension SendTokenRequest {
    /// The disk access that the request needs.
    fileprivate var need: DiskAccess {
        switch self {
        case .list: .reading
        case .add: .growing
        case .revoke: .shrinking
        }
    }
}

extension PolicyRequest {
    /// The disk access that the request needs.
    fileprivate var need: DiskAccess {
        switch self {
        case .all, .ofDevice: .reading
        case .set: .growing
        case .remove: .shrinking
        }
    }
}

extension QuotaRequest {
    /// The disk access that the request needs.
    fileprivate var need: DiskAccess {
        switch self {
        case .all: .reading
        case .clear: .shrinking
        case .change, .note: .growing
        }
    }
}
