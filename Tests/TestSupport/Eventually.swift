// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The timeouts of tests.
///
/// `POSTHORN_TEST_PATIENCE` multiplies them on slow machines and with sanitizers.
package enum Patience {
    /// The factor, at least 1.
    package static let factor = max(
        1, ProcessInfo.processInfo.environment["POSTHORN_TEST_PATIENCE"].flatMap(Int.init) ?? 1)

    /// The default timeout of a local exchange between processes.
    package static let usual: Duration = .seconds(30)

    /// The seed of this run's random choices: `POSTHORN_TEST_SEED`, or a different one in each run.
    package static let seed =
        ProcessInfo.processInfo.environment["POSTHORN_TEST_SEED"].flatMap(UInt64.init)
        ?? UInt64.random(in: 1...0xFFFF_FFFF)

    /// The number of cases of a property test: 40, or `POSTHORN_TEST_CASES`.
    package static let caseCount = ProcessInfo.processInfo.environment["POSTHORN_TEST_CASES"].flatMap(Int.init) ?? 40

    /// The duration of random failures in a cluster in seconds, `POSTHORN_TEST_SECONDS`; nil in an ordinary run.
    package static let clusterSeconds =
        ProcessInfo.processInfo.environment["POSTHORN_TEST_SECONDS"].flatMap(Int.init)

    /// Whether the programs were built with a sanitizer, as `scripts/sanitize.sh` says.
    package static let isSanitized = ProcessInfo.processInfo.environment["POSTHORN_TEST_SANITIZER"] != nil
}

/// The error for a condition that was not satisfied before its deadline.
package struct DeadlinePassed: Error, CustomStringConvertible {
    /// The condition in words.
    package let what: String
    package let duration: Duration
    /// The evidence at the deadline, for example a log.
    package let lastSeen: String

    package var description: String { "after \(duration) still not: \(what). \(lastSeen)" }
}

/// Waits until a condition holds.
///
/// - Parameters:
///   - what: The condition in words, for the failure.
///   - duration: The deadline from now, which is multiplied by `Patience.factor`.
///   - evidence: Called once when the deadline passes; returns text to print, for example a log.
///   - condition: Called repeatedly until it returns true.
/// - Throws: `DeadlinePassed`, or the error of the condition.
package func eventually(
    _ what: String, within duration: Duration = Patience.usual, evidence: () -> String = { "" },
    _ condition: () async throws -> Bool
) async throws {
    let _: Bool = try await eventualValue(what, within: duration, evidence: evidence) {
        try await condition() ? true : nil
    }
}

/// Waits until a closure returns a value.
///
/// - Parameters:
///   - what: The value in words, for the failure.
///   - duration: The deadline from now, which is multiplied by `Patience.factor`.
///   - evidence: Called once when the deadline passes; returns text to print, for example a log.
///   - value: Called repeatedly until it returns a value other than nil.
/// - Returns: The value.
/// - Throws: `DeadlinePassed`, or the error of the closure.
package func eventualValue<Value>(
    _ what: String, within duration: Duration = Patience.usual, evidence: () -> String = { "" },
    _ value: () async throws -> Value?
) async throws -> Value {
    let patient = duration * Patience.factor
    let deadline = ContinuousClock.now + patient
    // Short waits end soon. Long ones, and those whose closure takes long, leave the processor to what they wait for.
    var pause = Duration.milliseconds(5)
    while true {
        let start = ContinuousClock.now
        if let value = try await value() { return value }
        let end = ContinuousClock.now
        guard end < deadline else {
            throw DeadlinePassed(what: what, duration: patient, lastSeen: evidence())
        }
        try await Task.sleep(for: max(pause, min(end - start, .milliseconds(500))))
        pause = min(pause * 1.5, .milliseconds(60))
    }
}
