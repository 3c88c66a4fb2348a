// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// Runs the real posthornd while the machine under it fails.
///
/// The tests are serialized, because each starts several processes.
@Suite(.serialized) enum Faults {
    /// Selects the steps of a long walk: random ones in each ordinary run, and all of them in `make soak`.
    ///
    /// Prints the seed. Set `POSTHORN_TEST_SEED` to select the same steps again.
    ///
    /// - Parameters:
    ///   - all: The steps.
    ///   - count: The number of steps to select in an ordinary run.
    ///   - sourceLocation: The location to print.
    /// - Returns: The selected steps.
    static func steps<Step>(
        _ all: [Step], count: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [Step] {
        let wanted = max(count, count * Patience.caseCount / 100)
        guard all.count > wanted else { return all }
        let seed = Patience.seed
        print("\(sourceLocation.fileName): \(wanted) of \(all.count) steps by POSTHORN_TEST_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        return Array(all.shuffled(using: &random).prefix(wanted))
    }
}
