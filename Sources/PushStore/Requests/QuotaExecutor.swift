// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Executes the requests about quotas.
final class QuotaExecutor {
    private let quotas: QuotaTable
    private let topics: TopicTable
    private let keys: KeyTable
    private let certificates: CertificateTable
    private let transaction: StoreTransaction

    init(_ tables: SharedTables, _ transaction: StoreTransaction) {
        self.transaction = transaction
        quotas = tables.quotas
        topics = tables.topics
        keys = tables.keys
        certificates = tables.certificates
    }

    func execute(_ request: QuotaRequest) throws(SQLError) -> RequestResult {
        switch request {
        case .all: return .success(.quotas(try quotas.limits(), try quotas.uses()))
        case .change(let subject, let change):
            if let refusal = try refusal(of: subject) { return .failure(refusal) }
            let limits = change.or(try quotas.limits()[subject] ?? QuotaLimits())
            try quotas.set(subject, limits)
            transaction.noteDirectoryChange()
            return .success(.quotas([subject: limits], []))
        case .clear(let subject):
            // Limits of a removed subject can still be cleared.
            if try quotas.limits()[subject] == nil, let refusal = try refusal(of: subject) { return .failure(refusal) }
            try quotas.clear(subject)
            transaction.noteDirectoryChange()
        case .note(let uses): for use in uses { try quotas.note(use) }
        }
        return .success(.done)
    }

    /// Returns a refusal for an unknown topic or key, so that a misspelled name does not create a limit without effect.
    ///
    /// Teams are not checked, because they exist only as values of apps and keys.
    ///
    /// - Parameter subject: The subject.
    /// - Returns: The refusal; nil for a known subject.
    /// - Throws: The error that the engine returned.
    private func refusal(of subject: QuotaSubject) throws(SQLError) -> StoreRefusal? {
        switch subject.kind {
        case .team: return nil
        case .topic: return try topics.find(TopicName(subject.name)) == nil ? .unknownTopic : nil
        case .key:
            if try keys.contains(subject.name) { return nil }
            guard let fingerprint = Hex.decode(Array(subject.name.utf8).span) else { return .unknownKey }
            return try certificates.contains(fingerprint) ? nil : .unknownKey
        }
    }
}
