// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Archives recent notifications in `archived`, in the order of devices, a step at a time.
///
/// In this order, rows of the same page are written together. Writing rows one at a time would write the same page
/// repeatedly.
struct ArchivingRun {
    /// A notification that a step archives.
    struct Row {
        var queue: DeviceQueue
        var entry: QueueEntry
    }

    /// All notifications up to this sequence are archived when the run ends.
    private let through: Int64
    private var rows: [(device: UInt64, sequence: Int64, queue: DeviceQueue)] = []
    private var next = 0

    /// Takes all recent notifications up to a sequence.
    ///
    /// All of them must be rows of the table.
    init(_ queues: DeviceQueues, through: Int64) {
        self.through = through
        rows.reserveCapacity(queues.recentCount)
        queues.forEachWithRecent { queue in
            for entry in queue.recent.all where entry.sequence <= through {
                rows.append((queue.device.rawValue, entry.sequence, queue))
            }
        }
        rows.sort { ($0.device, $0.sequence) < ($1.device, $1.sequence) }
    }

    /// Returns the next notifications that still wait.
    mutating func takeStep() -> [Row] {
        var step: [Row] = []
        while next < rows.count, step.count < WriterLimits.archivedPerStepCountMax {
            let (_, sequence, queue) = rows[next]
            next += 1
            if let entry = queue.recent.entry(sequence) { step.append(Row(queue: queue, entry: entry)) }
        }
        return step
    }

    /// The sequence up to which all is archived after the last step; nil before.
    var end: Int64? { next == rows.count ? through : nil }
}
