// SPDX-License-Identifier: Apache-2.0

internal import PushSQL

/// The tables that both engines have, with their prepared statements.
class SharedTables {
    final let topics: TopicTable
    final let keys: KeyTable
    final let certificates: CertificateTable
    final let sendTokens: SendTokenTable
    final let devices: DeviceTable
    final let enrolmentCodes: EnrolmentCodeTable
    final let registrations: RegistrationTable
    final let channels: ChannelTable
    final let subscriptions: SubscriptionTable
    final let broadcasts: BroadcastTable
    final let deliveryHistories: DeliveryHistoryTable
    final let webhooks: WebhookTable
    final let quotas: QuotaTable
    final let policies: PolicyTable
    final let state: StateTable

    /// Prepares the statements of all tables.
    ///
    /// - Parameters:
    ///   - control: The connection to the control data.
    ///   - shard: The connection to the tables of devices; nil if they are in the same database.
    ///   - node: The number of this node, for PostgreSQL only.
    /// - Throws: The error that the engine returned.
    init(
        _ control: any SQLDatabase, devices shard: (any SQLDatabase)? = nil, node: Int64? = nil
    ) throws(SQLError) {
        topics = try TopicTable(control)
        keys = try KeyTable(control)
        certificates = try CertificateTable(control)
        sendTokens = try SendTokenTable(control)
        enrolmentCodes = try EnrolmentCodeTable(control)
        channels = try ChannelTable(control)
        broadcasts = try BroadcastTable(control)
        webhooks = try WebhookTable(control)
        quotas = try QuotaTable(control, node: node)
        policies = try PolicyTable(control)
        state = try StateTable(control)
        let shard = shard ?? control
        devices = try DeviceTable(shard)
        registrations = try RegistrationTable(shard)
        subscriptions = try SubscriptionTable(shard, broadcasts)
        deliveryHistories = try DeliveryHistoryTable(shard)
    }
}
