// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// Releases free memory to the system when the process keeps much more than it uses; runs on the control loop.
///
/// The allocator keeps memory that connections freed. After an attack, that may be hundreds of megabytes, whatever
/// their layout. The trigger is therefore the difference between resident and allocated bytes, compared with the
/// difference after the last trim.
struct ResidentMemory {
    private var slackByteCount: Int?
    private var nextCheck = MonotonicTime.past

    /// Checks the memory at intervals; called by each tick, which runs anyway.
    mutating func tick(now: MonotonicTime) {
        guard now >= nextCheck else { return }
        nextCheck = now.advanced(by: Limits.residentCheckInterval)
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
