// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Executes requests and broadcasts inside a transaction of either engine.
///
/// Each subject has an executor of its own. They write to the tables and add the effects to the transaction.
final class RequestExecutor {
    /// The refusal of a command that was routed to the wrong part of the store.
    static let misdirected =
        "internal error: the store routed a command to the wrong executor; please report this"

    let authentication: DeviceAuthentication
    let apps: AppExecutor
    let devices: DeviceExecutor
    let registrations: RegistrationExecutor
    private let filters: FilterExecutor
    private let channels: ChannelExecutor
    private let subscriptions: SubscriptionExecutor
    private let broadcasts: BroadcastExecutor
    private let credentials: CredentialExecutor
    private let sendTokens: SendTokenExecutor
    private let policies: PolicyExecutor
    private let authorities: AuthorityExecutor
    private let quotas: QuotaExecutor
    private let webhooks: WebhookExecutor

    init(
        _ tables: SharedTables, _ transaction: StoreTransaction, _ waiting: any WaitingNotifications,
        _ numbers: any NotificationNumbers, _ trace: any TracePositions, _ bounds: StoreBounds,
        channelPerAppCountMax: Int
    ) {
        authentication = DeviceAuthentication(tables.devices, transaction, bounds)
        registrations = RegistrationExecutor(tables, transaction, waiting)
        devices = DeviceExecutor(tables, transaction, waiting, authentication, registrations)
        filters = FilterExecutor(tables, transaction, waiting, numbers, authentication)
        channels = ChannelExecutor(tables, transaction, channelPerAppCountMax: channelPerAppCountMax)
        subscriptions = SubscriptionExecutor(tables, transaction, numbers, channels)
        broadcasts = BroadcastExecutor(tables, transaction, numbers)
        credentials = CredentialExecutor(tables, transaction)
        sendTokens = SendTokenExecutor(tables, transaction)
        policies = PolicyExecutor(tables, transaction, authentication)
        authorities = AuthorityExecutor(tables, transaction)
        quotas = QuotaExecutor(tables, transaction)
        apps = AppExecutor(tables, transaction, channels, registrations, policies)
        webhooks = WebhookExecutor(tables, transaction, trace)
    }

    /// Accepts a broadcast; the answer is an event of the transaction.
    func publish(_ broadcast: Broadcast, _ answer: ReplyAddress) throws(SQLError) {
        try broadcasts.publish(broadcast, answer)
    }

    /// Executes a request, or its first step.
    func execute(_ request: StoreRequest) throws(SQLError) -> RequestResult {
        switch request {
        case .enrol(let new): return try devices.enrol(new)
        case .device(let request, let credential):
            guard let device = try authentication.identify(credential) else { return .failure(.unauthorized) }
            return try execute(request, of: device)
        case .administer(let device, let request): return try devices.execute(request, on: device)
        case .allDevices(let request): return try execute(request)
        case .control(let request): return try execute(request)
        case .backup: return .failure(.unavailable(Self.misdirected))
        case .cluster: return .failure(.noCluster)
        }
    }

    private func execute(_ request: DeviceRequest, of device: DeviceID) throws(SQLError) -> RequestResult {
        switch request {
        case .register(let topic, let environment): try registrations.register(device, topic, environment)
        case .unregister(let topic): try registrations.unregister(device, topic)
        case .subscribe(let topic, let channel): try subscriptions.subscribe(device, topic, channel)
        case .unsubscribe(let topic, let channel): try subscriptions.unsubscribe(device, topic, channel)
        case .subscriptions(let topic): try subscriptions.subscriptions(device, topic)
        case .setFilter(let topics): try filters.setFilter(device, topics)
        case .setPower(let isSaving): devices.setPower(device, isSaving)
        case .policy: policies.rules(for: device)
        case .confirmAuthorities(let version): try authorities.confirm(version, by: device)
        case .remove: try devices.execute(.remove, on: device)
        case .identify, .acknowledge: .failure(.unavailable(Self.misdirected))
        }
    }

    private func execute(_ request: AllDevicesRequest) throws(SQLError) -> RequestResult {
        switch request {
        case .list(let after, let countMax): try devices.devices(after, countMax)
        case .counts: .memoryQuery(.counts)
        case .longestQueues(let countMax): .memoryQuery(.longestQueues(countMax: countMax))
        case .recipients(let topic, let devices, let countMax):
            try sendTokens.recipients(topic, devices: devices, countMax: countMax)
        case .trust: try authorities.trust()
        case .trace: .failure(.unavailable(Self.misdirected))
        }
    }

    private func execute(_ request: ControlRequest) throws(SQLError) -> RequestResult {
        switch request {
        case .addApp(let topic, let name, let team, let checks, let allowsBroadcasts):
            try apps.addApp(topic, name, team, checks, allowsBroadcasts)
        case .changeApp(let topic, let name, let checks, let allowsBroadcasts):
            try apps.changeApp(topic, name, checks, allowsBroadcasts)
        case .apps: apps.apps()
        case .app(let topic): try apps.app(topic)
        case .removeApp(let topic): try apps.removeApp(topic)
        case .addKey(let key): try credentials.addKey(key)
        case .keys: credentials.allKeys()
        case .revokeKey(let id): try credentials.revokeKey(id)
        case .addCertificate(let certificate): try credentials.addCertificate(certificate)
        case .certificates: credentials.allCertificates()
        case .revokeCertificate(let fingerprint): try credentials.revokeCertificate(fingerprint)
        case .createChannel(let id, let topic, let environment, let policy):
            try channels.create(id, topic, environment, policy)
        case .channel(let id, let topic, let environment): try channels.channel(id, topic, environment)
        case .channels(let topic, let environment): try channels.channels(topic, environment)
        case .removeChannel(let id, let topic, let environment): try channels.remove(id, topic, environment)
        case .addEnrolmentCode(let hash, let expires): try credentials.addEnrolmentCode(hash, expires)
        case .enrolmentCodes: try credentials.unusedEnrolmentCodes()
        case .revokeEnrolmentCode(let id): try credentials.revokeEnrolmentCode(id)
        case .sendToken(let request): try sendTokens.execute(request)
        case .quota(let request): try quotas.execute(request)
        case .policy(let request): try policies.execute(request)
        case .announceAuthorities(let version): try authorities.announce(version)
        case .setWebhook(let topic, let url, let secret): try webhooks.set(topic, url, secret)
        case .removeWebhook(let topic): try webhooks.remove(topic)
        case .advanceWebhook(let topic, let position): try webhooks.advance(topic, to: position)
        case .noteWebhookProblem(let topic, let problem): try webhooks.noteProblem(topic, problem)
        }
    }
}

extension StoreRequest {
    /// Whether the request ends deliveries, so that nothing is delivered after its answer.
    var forbidsDeliveries: Bool {
        switch self {
        case .device(.unregister, _), .device(.unsubscribe, _), .device(.setFilter, _), .device(.remove, _),
            .administer(_, .remove), .administer(_, .expire), .control(.removeApp), .control(.changeApp),
            .control(.removeChannel):
            true
        case .enrol, .device, .administer, .allDevices, .control, .backup, .cluster: false
        }
    }
}
