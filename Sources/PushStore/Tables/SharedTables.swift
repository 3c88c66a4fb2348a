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
    ///   - connection: The connection.
    ///   - node: The number of this node, for PostgreSQL only.
    /// - Throws: The error that the engine returned.
    init(_ connection: any SQLDatabase, node: Int64? = nil) throws(SQLError) {
        topics = try TopicTable(connection)
        keys = try KeyTable(connection)
        certificates = try CertificateTable(connection)
        sendTokens = try SendTokenTable(connection)
        devices = try DeviceTable(connection)
        enrolmentCodes = try EnrolmentCodeTable(connection)
        registrations = try RegistrationTable(connection)
        channels = try ChannelTable(connection)
        subscriptions = try SubscriptionTable(connection)
        broadcasts = try BroadcastTable(connection)
        deliveryHistories = try DeliveryHistoryTable(connection)
        webhooks = try WebhookTable(connection)
        quotas = try QuotaTable(connection, node: node)
        policies = try PolicyTable(connection)
        state = try StateTable(connection)
    }
}
