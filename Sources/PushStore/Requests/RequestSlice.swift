// SPDX-License-Identifier: Apache-2.0

/// The time that requests may take in one turn of the writer.
struct RequestSlice {
    /// Returns the monotonic time in nanoseconds; nil for a slice without an end.
    private let clock: (@Sendable () -> Int64)?
    private var end = Int64.max
    /// Whether other principals wait for the rest of the slice; long work then executes one step only.
    var isShared = false

    /// Creates slices of `WriterLimits.requestSliceMilliseconds`.
    ///
    /// - Parameter clock: Returns the monotonic time in nanoseconds; nil for slices without an end.
    init(clock: (@Sendable () -> Int64)? = nil) { self.clock = clock }

    /// Starts a slice now.
    mutating func begin() {
        guard let clock else { return }
        end = clock() + WriterLimits.requestSliceMilliseconds * 1_000_000
    }

    /// Whether the time is used up.
    var isOver: Bool {
        guard let clock else { return false }
        return clock() >= end
    }
}
