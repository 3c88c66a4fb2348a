// SPDX-License-Identifier: Apache-2.0

/// Counts the frames of a client that ask for nothing, as an HTTP/2 session does with its glitches.
///
/// Honest clients meet no bound. The agent sends one ping with each batch of acknowledgements, and messages of ours earn
/// more pings than there can be batches; otherwise it pings once in 20 seconds. Libraries that split messages do so in
/// pieces of some kilobytes, of which at most 64 fit in a message.
final class FrameBudget {
    /// Glitches that a connection takes at once; then it is closed with 1008.
    static let glitchCountMax = 1000
    /// Glitches a second that a connection takes without end.
    static let glitchCountPerSecond = 100
    /// A ping counts as this many glitches, since each is answered: 20 a second are taken without end.
    static let glitchesPerPing = 5
    /// A frame of a message without a byte counts as this many.
    static let glitchesPerEmptyFrame = 4
    /// A pong, or a frame of a message that continues in another frame.
    static let glitchesPerOtherFrame = 1
    /// Pings that each message of ours earns: a device acknowledges it several times.
    static let pingsPerMessage = 8
    /// Earned pings at most.
    static let pingAllowanceMax = 65_536

    private static let nanosecondsPerGlitch = 1_000_000_000 / UInt64(glitchCountPerSecond)

    /// Monotonic time; while it stands still, nothing is refilled.
    var nowNanoseconds: UInt64 = 0
    /// A client does not count the frames of its server.
    private let isCounting: Bool
    private var available = glitchCountMax
    private var refilledNanoseconds: UInt64 = 0
    private var pingAllowance = 0

    init(isServer: Bool) { isCounting = isServer }

    /// A message of ours is on its way.
    func messageSent() { pingAllowance = min(pingAllowance + Self.pingsPerMessage, Self.pingAllowanceMax) }

    /// Takes a ping; false when there were too many.
    func takePing() -> Bool {
        if pingAllowance > 0 {
            pingAllowance -= 1
            return true
        }
        return take(Self.glitchesPerPing)
    }

    /// Counts the glitches of a frame; returns false when there were too many.
    func take(_ glitchCount: Int) -> Bool {
        guard isCounting, glitchCount > 0 else { return true }
        refill(nowNanoseconds)
        guard glitchCount <= available else { return false }
        available -= glitchCount
        return true
    }

    private func refill(_ now: UInt64) {
        guard now > refilledNanoseconds else { return }
        let count = (now - refilledNanoseconds) / Self.nanosecondsPerGlitch
        guard count < UInt64(Self.glitchCountMax - available) else {
            (available, refilledNanoseconds) = (Self.glitchCountMax, now)
            return
        }
        available += Int(count)
        refilledNanoseconds += count * Self.nanosecondsPerGlitch
    }
}
