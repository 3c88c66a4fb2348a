// SPDX-License-Identifier: Apache-2.0

internal import PushSQL
internal import PushSQLite

/// The tables of the store, with their prepared statements.
final class StoreTables {
    let topics: TopicTable
    let keys: KeyTable
    let certificates: CertificateTable
    let sendTokens: SendTokenTable
    let devices: DeviceTable
    let enrolmentCodes: EnrolmentCodeTable
    let registrations: RegistrationTable
    let pending: PendingTable
    let archive: ArchiveTable
    let channels: ChannelTable
    let subscriptions: SubscriptionTable
    let broadcasts: BroadcastTable
    let deliveryHistories: DeliveryHistoryTable
    let trace: TraceTable
    let webhooks: WebhookTable
    let quotas: QuotaTable
    let policies: PolicyTable
    let state: StateTable

    init(_ connection: Connection) throws(SQLError) {
        topics = try TopicTable(connection)
        keys = try KeyTable(connection)
        certificates = try CertificateTable(connection)
        sendTokens = try SendTokenTable(connection)
        devices = try DeviceTable(connection)
        enrolmentCodes = try EnrolmentCodeTable(connection)
        registrations = try RegistrationTable(connection)
        pending = try PendingTable(connection)
        archive = try ArchiveTable(connection)
        channels = try ChannelTable(connection)
        subscriptions = try SubscriptionTable(connection)
        broadcasts = try BroadcastTable(connection)
        deliveryHistories = try DeliveryHistoryTable(connection)
        trace = try TraceTable(connection)
        webhooks = try WebhookTable(connection)
        quotas = try QuotaTable(connection)
        policies = try PolicyTable(connection)
        state = try StateTable(connection)
    }
}
