// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// How long tests wait for what must happen; `POSTHORN_TEST_PATIENCE` multiplies it on slow machines and sanitizers.
package enum Patience {
    /// The factor, at least 1.
    package static let factor = max(
        1, ProcessInfo.processInfo.environment["POSTHORN_TEST_PATIENCE"].flatMap(Int.init) ?? 1)

    /// What a local exchange between processes may take before something is wrong.
    package static let usual: Duration = .seconds(30)

    /// How many cases a property tries: 100, or `POSTHORN_TEST_CASES`.
    package static let caseCount = ProcessInfo.processInfo.environment["POSTHORN_TEST_CASES"].flatMap(Int.init) ?? 100
}

/// A condition did not come true before its deadline.
package struct DeadlinePassed: Error, CustomStringConvertible {
    /// What was waited for.
    package let what: String
    /// How long.
    package let duration: Duration
    /// What was last seen, for whoever reads the failure.
    package let lastSeen: String

    /// The whole story in one line.
    package var description: String { "after \(duration) still not: \(what). \(lastSeen)" }
}

/// Waits until a condition holds.
///
/// - Parameters:
///   - what: The condition in words, for the failure.
///   - duration: The deadline from now; multiplied by `Patience.factor`.
///   - evidence: Asked once when the deadline passes: what to print, for example a log.
///   - condition: Asked again and again.
/// - Throws: `DeadlinePassed`, or what the condition throws.
package func eventually(
    _ what: String, within duration: Duration = Patience.usual, evidence: () -> String = { "" },
    _ condition: () async throws -> Bool
) async throws {
    let _: Bool = try await eventualValue(what, within: duration, evidence: evidence) {
        try await condition() ? true : nil
    }
}

/// Waits until there is a value.
///
/// - Parameters:
///   - what: The value in words, for the failure.
///   - duration: The deadline from now; multiplied by `Patience.factor`.
///   - evidence: Asked once when the deadline passes: what to print, for example a log.
///   - value: Asked again and again until it is not nil.
/// - Returns: The value.
/// - Throws: `DeadlinePassed`, or what the closure throws.
package func eventualValue<Value>(
    _ what: String, within duration: Duration = Patience.usual, evidence: () -> String = { "" },
    _ value: () async throws -> Value?
) async throws -> Value {
    let patient = duration * Patience.factor
    let deadline = ContinuousClock.now + patient
    while true {
        if let value = try await value() { return value }
        guard ContinuousClock.now < deadline else {
            throw DeadlinePassed(what: what, duration: patient, lastSeen: evidence())
        }
        try await Task.sleep(for: .milliseconds(15))
    }
}
