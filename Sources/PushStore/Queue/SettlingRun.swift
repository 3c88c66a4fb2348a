// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Moves recent notifications into `settled`, in the order of devices, a step at a time.
///
/// In that order rows of one page come together, which a row at a time would write again and again.
struct SettlingRun {
    /// A notification that is settled by a step.
    struct Row {
        var card: DeviceCard
        var entry: QueueEntry
    }

    /// All up to here are settled when the run ends.
    private let through: Int64
    private var rows: [(device: UInt64, sequence: Int64, card: DeviceCard)] = []
    private var next = 0

    /// Takes all recent notifications up to a sequence, which must be rows.
    init(_ cards: DeviceCards, through: Int64) {
        self.through = through
        rows.reserveCapacity(cards.recentCount)
        cards.forEachWithRecent { card in
            for entry in card.recent.all where entry.sequence <= through {
                rows.append((card.device.rawValue, entry.sequence, card))
            }
        }
        rows.sort { ($0.device, $0.sequence) < ($1.device, $1.sequence) }
    }

    /// The next ones that still wait.
    mutating func takeStep() -> [Row] {
        var step: [Row] = []
        while next < rows.count, step.count < WriterLimits.settledPerStepCountMax {
            let (_, sequence, card) = rows[next]
            next += 1
            if let entry = card.recent.entry(sequence) { step.append(Row(card: card, entry: entry)) }
        }
        return step
    }

    /// What is settled once the last step is done; nil before.
    var end: Int64? { next == rows.count ? through : nil }
}

extension Executor {
    /// Writes a step of a settling run, and its end.
    func settle(_ rows: [SettlingRun.Row], through end: Int64?) throws(SQLiteError) {
        for row in rows {
            try settled.add(
                SettledTable.Row(sequence: row.entry.sequence, topic: row.entry.topic), of: row.card.device,
                collapse: row.entry.collapse)
        }
        if let end { try state.setSettledThrough(end) }
    }
}
