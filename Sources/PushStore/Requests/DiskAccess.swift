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
        case .attach, .detach, .usesDirectory, .host: .reading
        case .acknowledge: .shrinking
        case .perform(let request, _): request.need
        }
    }
}

extension StoreRequest {
    /// The disk access that the request needs.
    fileprivate var need: DiskAccess {
        switch self {
        case .enrol: .growing
        case .device(let request, _): request.need
        case .administer(_, let request): request.need
        case .allDevices, .backup, .cluster: .reading
        case .control(let request): request.need
        }
    }
}

extension DeviceRequest {
    /// The disk access that the request needs.
    fileprivate var need: DiskAccess {
        switch self {
        case .identify, .subscriptions, .setPower, .policy: .reading
        case .unregister, .unsubscribe, .acknowledge, .confirmAuthorities, .remove: .shrinking
        case .register, .subscribe, .setFilter: .growing
        }
    }
}

extension DeviceAdministration {
    /// The disk access that the request needs.
    fileprivate var need: DiskAccess {
        switch self {
        case .describe: .reading
        case .remove, .expire: .shrinking
        case .rename: .growing
        }
    }
}

extension ControlRequest {
    /// The disk access that the request needs.
    fileprivate var need: DiskAccess {
        switch self {
        case .sendToken(let request): request.need
        case .quota(let request): request.need
        case .policy(let request): request.need
        case .apps, .app, .keys, .certificates, .channel, .channels, .enrolmentCodes: .reading
        case .removeApp, .revokeKey, .revokeCertificate, .removeChannel, .revokeEnrolmentCode, .announceAuthorities,
            .removeWebhook, .advanceWebhook:
            .shrinking
        case .addApp, .changeApp, .addKey, .addCertificate, .createChannel, .addEnrolmentCode, .setWebhook,
            .noteWebhookProblem:
            .growing
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
        case .all: .reading
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
