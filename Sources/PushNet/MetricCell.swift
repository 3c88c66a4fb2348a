// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A number that one thread writes and any thread reads.
///
/// The writer needs no locked instruction. It is the only one, so it adds with a relaxed load and a relaxed store.
package final class MetricCell: Sendable {
    // Relaxed ordering suffices: no other data depends on this number.
    private let number = Atomic<Int64>(0)

    package init() {}

    package var value: Int64 { number.load(ordering: .relaxed) }

    /// Adds to the number, on the thread that writes it.
    package func add(_ change: Int64 = 1) {
        number.store(number.load(ordering: .relaxed) &+ change, ordering: .relaxed)
    }

    /// Replaces the number, on the thread that writes it.
    package func set(_ value: Int64) { number.store(value, ordering: .relaxed) }
}
