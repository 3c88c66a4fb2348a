// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// The time that requests may take in one turn of the writer.
struct RequestSlice {
    /// Returns the current time; nil for a slice without an end.
    private let clock: (@Sendable () -> MonotonicTime)?
    private var end = MonotonicTime.future
    /// Whether other principals wait for the rest of the slice; long work then executes one step only.
    var isShared = false

    /// Creates slices of `WriterLimits.requestSliceMilliseconds`.
    ///
    /// - Parameter clock: Returns the current time; nil for slices without an end.
    init(clock: (@Sendable () -> MonotonicTime)? = nil) { self.clock = clock }

    /// Starts a slice now.
    mutating func begin() {
        guard let clock else { return }
        end = clock().advanced(byMilliseconds: WriterLimits.requestSliceMilliseconds)
    }

    /// Whether the time is used up.
    var isOver: Bool {
        guard let clock else { return false }
        return clock() >= end
    }
}
