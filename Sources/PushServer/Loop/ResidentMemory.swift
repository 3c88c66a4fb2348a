// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// Gives free memory back to the system when the process keeps much more than it uses; lives on the control loop.
///
/// The allocator keeps what connections freed. After an attack that may be hundreds of megabytes, whatever its shape, so
/// the difference of resident and allocated bytes decides, compared with the difference after the last trim.
struct ResidentMemory {
    private var slackByteCount: Int?
    private var nextCheckNanoseconds: UInt64 = 0

    /// Looks now and then; called by each tick, which runs anyway.
    mutating func tick(now: UInt64) {
        guard now >= nextCheckNanoseconds else { return }
        nextCheckNanoseconds = now + UInt64(Limits.residentCheckInterval / .nanoseconds(1))
        guard let slack = Self.slack() else { return }
        guard let known = slackByteCount else {
            slackByteCount = slack
            return
        }
        guard slack > known + Limits.residentGrowthByteCount else {
            slackByteCount = min(slack, known)
            return
        }
        Heap.trim()
        slackByteCount = Self.slack()
    }

    private static func slack() -> Int? { ProcessLimits.residentByteCount.map { $0 - Heap.usedByteCount } }
}
