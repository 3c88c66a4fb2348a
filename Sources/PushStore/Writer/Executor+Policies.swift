// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Executor {
    func policy(_ request: PolicyRequest, _ answer: ReplyAddress) throws(SQLiteError) -> Verdict? {
        switch request {
        case .all: break
        case .ofDevice(let secretHash):
            guard let device = try identify(secretHash) else { return .failure(.unauthorized) }
            return begin(PolicyListing(for: device, answer))
        case .set(let place, let value, let isLocked):
            if let refusal = try refusal(of: place) { return .failure(refusal) }
            guard try policies.count() < Limits.policyRuleCountMax else { return .failure(.tooMany) }
            try policies.set(place, value, isLocked: isLocked)
            try notePolicyChange()
        case .remove(let place):
            guard try policies.remove(place) else { return .failure(.unknownPolicy) }
            try notePolicyChange()
        }
        return begin(PolicyListing(for: nil, answer))
    }

    /// Increments the policy version, of which devices are then notified.
    func notePolicyChange() throws(SQLiteError) {
        try state.setPolicyVersion(try state.policyVersion() + 1)
        hasDirectoryChanged = true
    }

    /// Returns a refusal for an unknown topic or device, so that a misspelled name does not create a rule without
    /// effect.
    private func refusal(of place: PolicyRequest.Place) throws(SQLiteError) -> StoreRefusal? {
        if let topic = place.topic, try topics.find(topic) == nil { return .unknownTopic }
        if let device = place.device, try !isLive(device) { return .unknownDevice }
        return nil
    }
}

/// The list of all policy rules, or of those for one device: first its own, then those for all devices.
///
/// A change of the rules restarts the list, so that all rules belong to the same version.
private final class PolicyListing: LongWork {
    private let device: DeviceID?
    private let answer: ReplyAddress
    private var rules: [PolicyTable.Rule] = []
    /// The number of the device's own rules; nil while they are being read.
    private var ownCount: Int?
    private var last: PolicyTable.Rule?
    private var version: Int64?

    init(for device: DeviceID?, _ answer: ReplyAddress) {
        self.device = device
        self.answer = answer
    }

    func step(_ executor: Executor) throws(SQLiteError) -> Bool {
        let now = try executor.state.policyVersion()
        if let version, version != now { restart() }
        version = now
        let countMax = WriterLimits.rowsListedPerStepCountMax
        guard let device else {
            let found = try executor.policies.rules(after: last, countMax: countMax)
            return take(found, isEnd: found.count < countMax, executor, now)
        }
        let found = try executor.policies.rules(
            for: device, isOwn: ownCount == nil, after: last, countMax: countMax)
        if found.count < countMax, ownCount == nil {
            rules += found
            (ownCount, last) = (rules.count, nil)
            return false
        }
        return take(found, isEnd: found.count < countMax, executor, now)
    }

    private func take(_ found: [PolicyTable.Rule], isEnd: Bool, _ executor: Executor, _ version: Int64) -> Bool {
        rules += found
        last = found.last
        guard isEnd else { return false }
        executor.events.append(.success(.policy(merged().map(\.rule), version: version), to: answer))
        return true
    }

    /// Merges both parts, each of which is sorted by topic and setting.
    private func merged() -> [PolicyTable.Rule] {
        guard let ownCount else { return rules }
        var (own, general) = (rules[..<ownCount], rules[ownCount...])
        var all: [PolicyTable.Rule] = []
        all.reserveCapacity(rules.count)
        while let first = own.first, let second = general.first {
            if first.isBefore(second) {
                all.append(own.removeFirst())
            } else {
                all.append(general.removeFirst())
            }
        }
        return all + own + general
    }

    func restart() {
        rules = []
        (ownCount, last, version) = (nil, nil, nil)
    }
}

extension PolicyRequest {
    /// The disk access that the request needs.
    var need: Executor.Need {
        switch self {
        case .all, .ofDevice: .reading
        case .set: .growing
        case .remove: .shrinking
        }
    }
}
