// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Archives recent notifications in `settled`, in the order of devices, a step at a time.
///
/// In this order, rows of the same page are written together. Writing rows one at a time would write the same page
/// repeatedly.
struct Compaction {
    /// A notification that a step archives.
    struct Row {
        var card: DeviceQueue
        var entry: QueueEntry
    }

    /// All notifications up to this sequence are archived when the run ends.
    private let through: Int64
    private var rows: [(device: UInt64, sequence: Int64, card: DeviceQueue)] = []
    private var next = 0

    /// Takes all recent notifications up to a sequence.
    ///
    /// All of them must be rows of the table.
    init(_ cards: DeviceQueues, through: Int64) {
        self.through = through
        rows.reserveCapacity(cards.recentCount)
        cards.forEachWithRecent { card in
            for entry in card.recent.all where entry.sequence <= through {
                rows.append((card.device.rawValue, entry.sequence, card))
            }
        }
        rows.sort { ($0.device, $0.sequence) < ($1.device, $1.sequence) }
    }

    /// Returns the next notifications that still wait.
    mutating func takeStep() -> [Row] {
        var step: [Row] = []
        while next < rows.count, step.count < WriterLimits.settledPerStepCountMax {
            let (_, sequence, card) = rows[next]
            next += 1
            if let entry = card.recent.entry(sequence) { step.append(Row(card: card, entry: entry)) }
        }
        return step
    }

    /// The sequence up to which all is archived after the last step; nil before.
    var end: Int64? { next == rows.count ? through : nil }
}
