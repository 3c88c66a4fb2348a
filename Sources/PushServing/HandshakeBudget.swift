// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// The time that handshake steps may take in each turn of a loop.
///
/// While authenticated peers send requests, handshakes get only a share of the time that the rest of the turn took.
/// A request then waits for about one step, even when thousands of devices reconnect at once. Without requests, longer
/// turns let the store take the commands of more devices together.
///
/// A step cannot be divided and a turn has at least one, so handshakes progress under any load.
struct HandshakeBudget {
    /// The time of the last request of an authenticated peer.
    private var requestedAt: MonotonicTime?

    /// Notes a request of an authenticated peer.
    mutating func noteRequest(at now: MonotonicTime) { requestedAt = now }

    /// Performs steps until the budget of the turn is spent.
    ///
    /// - Parameters:
    ///   - turnBeganAt: The time at which the turn began.
    ///   - clock: Returns the current time.
    ///   - step: Performs a step; returns false if no handshake could continue.
    func spend(turnBeganAt: MonotonicTime, clock: () -> MonotonicTime, step: () -> Bool) {
        let start = clock()
        let end = start.advanced(by: duration(turnBeganAt: turnBeganAt, start: start))
        repeat {
            guard step() else { return }
        } while clock() < end
    }

    private func duration(turnBeganAt: MonotonicTime, start: MonotonicTime) -> Duration {
        guard let requestedAt, start < requestedAt.advanced(by: Limits.handshakeYieldDuration) else {
            return Limits.handshakeDurationPerTurn
        }
        // A turn can take long because the thread did not run. This is no reason for many steps.
        return min(Limits.handshakeDurationPerTurn, start.duration(since: turnBeganAt) / Limits.handshakeShare)
    }
}
