// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Executor {
    func policy(_ request: PolicyRequest) throws(SQLiteError) -> Verdict {
        switch request {
        case .all: break
        case .ofDevice(let secretHash):
            guard let device = try identify(secretHash) else { return .failure(.unauthorized) }
            return .success(.policy(try policies.rules(for: device), version: try state.policyVersion()))
        case .set(let place, let value, let isLocked):
            if let refusal = try refusal(of: place) { return .failure(refusal) }
            guard try policies.count() < Limits.policyRuleCountMax else { return .failure(.tooMany) }
            try policies.set(place, value, isLocked: isLocked)
            try notePolicyChange()
        case .remove(let place):
            guard try policies.remove(place) else { return .failure(.unknownPolicy) }
            try notePolicyChange()
        }
        return .success(.policy(try policies.all(), version: try state.policyVersion()))
    }

    /// Has devices hear that policies changed.
    func notePolicyChange() throws(SQLiteError) {
        try state.setPolicyVersion(try state.policyVersion() + 1)
        hasDirectoryChanged = true
    }

    /// A slip in a name must not make a rule for nobody.
    private func refusal(of place: PolicyRequest.Place) throws(SQLiteError) -> StoreRefusal? {
        if let topic = place.topic, try topics.find(topic) == nil { return .unknownTopic }
        if let device = place.device, try !isLive(device) { return .unknownDevice }
        return nil
    }
}

extension PolicyRequest {
    /// What it needs of the disk.
    var need: Executor.Need {
        switch self {
        case .all, .ofDevice: .reading
        case .set: .growing
        case .remove: .shrinking
        }
    }
}
