// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Executor {
    func quota(_ request: QuotaRequest) throws(SQLiteError) -> Verdict {
        switch request {
        case .all: return .success(.quotas(try quotas.limits(), try quotas.uses()))
        case .change(let subject, let change):
            if let refusal = try refusal(of: subject) { return .failure(refusal) }
            let limits = change.or(try quotas.limits()[subject] ?? QuotaLimits())
            try quotas.set(subject, limits)
            return .success(.quotas([subject: limits], []))
        case .clear(let subject):
            // What was set for one that is gone since can be cleared all the same.
            if try quotas.limits()[subject] == nil, let refusal = try refusal(of: subject) { return .failure(refusal) }
            try quotas.clear(subject)
        case .note(let uses): for use in uses { try quotas.note(use) }
        }
        return .success(.done)
    }

    /// A slip in a name must not make a limit for nobody; but a team is whatever apps and keys say it is.
    private func refusal(of subject: QuotaSubject) throws(SQLiteError) -> StoreRefusal? {
        switch subject.kind {
        case .team: return nil
        case .topic: return try topics.find(subject.name) == nil ? .unknownTopic : nil
        case .key:
            if try keys.contains(subject.name) { return nil }
            guard let fingerprint = Hex.decode(Array(subject.name.utf8).span) else { return .unknownKey }
            return try certificates.contains(fingerprint) ? nil : .unknownKey
        }
    }
}

extension QuotaRequest {
    /// What it needs of the disk.
    var need: Executor.Need {
        switch self {
        case .all: .reading
        case .clear: .shrinking
        case .change, .note: .growing
        }
    }
}
