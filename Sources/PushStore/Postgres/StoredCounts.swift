// SPDX-License-Identifier: Apache-2.0

internal import PushAPI

extension AdminAPI.Counts {
    /// The counters of events, with their names in the column `nodes.counts` and in the table `state`.
    ///
    /// Nodes of several versions read them, so a name keeps its meaning.
    private static let events: [(name: String, path: any WritableKeyPath<AdminAPI.Counts, Int> & Sendable)] = [
        ("accepted", \.accepted), ("acknowledged", \.acknowledged), ("collapsed", \.collapsed), ("expired", \.expired),
        ("dropped", \.dropped), ("unregistered", \.unregistered), ("glitches", \.glitches),
    ]
    /// The beginning of the names of outcomes.
    private static let outcomePrefix = "outcome_"

    /// The counters of events as the JSON object that `nodes.counts` holds.
    var storedEvents: String {
        let numbers = Self.events.map { ($0.name, self[keyPath: $0.path]) }
        let reported = outcomes.sorted { $0.key < $1.key }.map { (Self.outcomePrefix + $0.key, $0.value) }
        return "{\((numbers + reported).map { "\"\($0)\":\($1)" }.joined(separator: ","))}"
    }

    /// Adds a stored counter; ignores one that this version does not know.
    mutating func addStored(_ name: String, _ value: Int) {
        if let path = Self.events.first(where: { $0.name == name })?.path { return self[keyPath: path] += value }
        guard let outcome = DeviceAPI.Outcome.allCases.first(where: { Self.outcomePrefix + $0.rawValue == name }) else {
            return
        }
        outcomes[outcome.rawValue, default: 0] += value
    }
}
