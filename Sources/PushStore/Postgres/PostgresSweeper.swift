// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Deletes what expired, and expires the registrations of devices that were unseen for too long.
///
/// The nodes together make one pass an hour, in short steps. The first node that finds a pass due makes it.
final class PostgresSweeper {
    /// The next step of a pass.
    private enum Step {
        case begin
        /// Deletes the expired notifications on the table's pages from `first` up to `end`.
        case notifications(first: Int64, end: Int64)
        /// Records that connected devices were seen; those with larger IDs than `last`, or all.
        case connectedDevices(after: Int64?)
        case unseenDevices
        /// Removes the registrations and subscriptions whose app or channel was removed.
        case leftovers
        case controlTables
        case trace
    }

    /// The outcome of a step.
    struct Progress {
        /// The expired notifications that the step deleted.
        var expired: [PendingTable.Removed] = []
        /// The number of expired broadcasts that the step deleted.
        var expiredCount = 0
        /// Whether the pass has another step.
        var isMore = true
    }

    private let tables: SharedTables
    private let transaction: StoreTransaction
    private let registrations: RegistrationExecutor
    private let traces: PostgresTraces
    private let state: StateTable
    private let leftovers: PostgresLeftovers
    /// Whether the shard has the control data.
    private let hasControl: Bool
    private let bounds: StoreBounds
    private let countPages: any SQLStatement
    private let deleteExpired: any SQLStatement
    private let markConnected: any SQLStatement
    private var next = Step.begin

    init(
        _ database: any SQLDatabase, _ tables: SharedTables, _ transaction: StoreTransaction,
        _ registrations: RegistrationExecutor, _ traces: PostgresTraces, _ leftovers: PostgresLeftovers,
        _ bounds: StoreBounds, hasControl: Bool
    ) throws(SQLError) {
        self.tables = tables
        self.transaction = transaction
        self.registrations = registrations
        self.traces = traces
        self.leftovers = leftovers
        self.hasControl = hasControl
        // Each shard has its own passes.
        state = try StateTable(database)
        self.bounds = bounds
        countPages = try database.prepare(
            "SELECT pg_relation_size('pending') / current_setting('block_size')::bigint")
        deleteExpired = try database.prepare(
            """
            DELETE FROM pending
            WHERE ctid >= CAST(CAST(? AS text) AS tid) AND ctid < CAST(CAST(? AS text) AS tid)
                AND expires_at_ms < (extract(epoch FROM clock_timestamp()) * 1000)::bigint
            RETURNING id, device, topic
            """)
        markConnected = try database.prepare(
            """
            WITH page AS (SELECT device, instance FROM hosts WHERE device >= ?1 ORDER BY device LIMIT ?2), seen AS (
                UPDATE devices SET seen_at_ms = ?3, dormant = 0 FROM page JOIN nodes USING (instance)
                WHERE devices.id = page.device AND nodes.seen_at > clock_timestamp() - interval '3 seconds'
                    AND devices.seen_at_ms < ?4)
            SELECT count(*), max(device) FROM page
            """)
    }

    /// Makes the next step, if a pass is due or under way.
    ///
    /// - Parameter commit: Runs a serializable transaction.
    /// - Returns: The outcome.
    /// - Throws: The error that PostgreSQL returned. The step is repeated when this is called again.
    func step(_ commit: PostgresSchema.Transaction) throws(SQLError) -> Progress {
        switch next {
        case .begin: return try begin(commit)
        case .notifications(let first, let end): return try deleteNotifications(first, end)
        case .connectedDevices(let last): try noteConnected(after: last, commit)
        case .unseenDevices: try expireUnseen(commit)
        case .leftovers:
            let isMore = try leftovers.removeSome(commit)
            if !isMore { next = hasControl ? .controlTables : .begin }
            return Progress(isMore: isMore || hasControl)
        case .controlTables: return try sweepControlTables(commit)
        case .trace:
            let isMore = try traces.trim()
            if !isMore { next = .begin }
            return Progress(isMore: isMore)
        }
        return Progress()
    }

    /// Begins a pass if none began within the last hour.
    private func begin(_ commit: PostgresSchema.Transaction) throws(SQLError) -> Progress {
        var isDue = false
        try commit { () throws(SQLError) in
            let now = transaction.now
            let last = try state.lastSweep()
            isDue = last.map { now.milliseconds(since: $0) >= PostgresLimits.sweepMilliseconds } ?? true
            guard isDue else { return }
            try state.noteSweep(now: now)
            // Without a pass, probably no node was running, so no device could be seen.
            if last.map({ now.milliseconds(since: $0) >= 2 * PostgresLimits.sweepMilliseconds }) ?? true {
                let end = now.advanced(byMilliseconds: WriterLimits.reconnectionMilliseconds)
                try state.setReconnectionEnd(end)
            }
        }
        guard isDue else { return Progress(isMore: false) }
        defer { countPages.reset() }
        next = .notifications(first: 0, end: try countPages.step() ? countPages.int64(0) : 0)
        return Progress()
    }

    /// Deletes expired notifications outside a serializable transaction, which each acknowledgement would prevent.
    private func deleteNotifications(_ first: Int64, _ end: Int64) throws(SQLError) -> Progress {
        guard first < end else {
            next = .connectedDevices(after: nil)
            return Progress()
        }
        let last = min(first + PostgresLimits.pagesSweptPerStep, end)
        deleteExpired.bind("(\(first),0)", at: 1)
        deleteExpired.bind("(\(last),0)", at: 2)
        var expired: [PendingTable.Removed] = []
        while try deleteExpired.step() {
            expired.append(
                PendingTable.Removed(
                    sequence: deleteExpired.int64(0), device: DeviceID(stored: deleteExpired.int64(1)),
                    topic: TopicID(stored: deleteExpired.int64(2))))
        }
        next = .notifications(first: last, end: end)
        return Progress(expired: expired)
    }

    private func noteConnected(after last: Int64?, _ commit: PostgresSchema.Transaction) throws(SQLError) {
        var following: Int64?
        try commit { () throws(SQLError) in
            let countMax = Int64(WriterLimits.devicesNotedPerStepCountMax)
            let life = bounds.registrationLifeSeconds ?? .max
            let seconds = min(PostgresLimits.seenSeconds, max(life, 0) / 2)
            markConnected.bind(last.map { $0 + 1 } ?? .min, at: 1)
            markConnected.bind(countMax, at: 2)
            markConnected.bind(transaction.now.unixMilliseconds, at: 3)
            markConnected.bind(transaction.now.advanced(bySeconds: -seconds).unixMilliseconds, at: 4)
            defer { markConnected.reset() }
            guard try markConnected.step(), markConnected.int64(0) == countMax else { return }
            let device = markConnected.int64(1)
            following = device < .max ? device : nil
        }
        next = following.map { .connectedDevices(after: $0) } ?? .unseenDevices
    }

    private func expireUnseen(_ commit: PostgresSchema.Transaction) throws(SQLError) {
        var isMore = false
        try commit { () throws(SQLError) in
            isMore = false
            let now = transaction.now
            guard let life = bounds.registrationLifeSeconds, try now >= state.reconnectionEnd() else { return }
            let countMax = WriterLimits.devicesSweptPerStepCountMax
            let unseen = try tables.devices.unseen(since: now.advanced(bySeconds: -max(life, 0)), countMax: countMax)
            isMore = unseen.count == countMax
            var rowCount = 0
            for device in unseen {
                rowCount += try registrations.endAll(of: device, asExpired: true)
                try tables.devices.noteDormant(device)
                guard rowCount >= WriterLimits.rowsSweptPerStepCountMax else { continue }
                isMore = true
                return
            }
        }
        next = isMore ? .unseenDevices : .leftovers
    }

    private func sweepControlTables(_ commit: PostgresSchema.Transaction) throws(SQLError) -> Progress {
        var count = 0
        let countMax = WriterLimits.rowsSweptPerStepCountMax
        try commit { () throws(SQLError) in
            count = try tables.broadcasts.removeExpired(now: transaction.now, countMax: countMax).count
            try tables.enrolmentCodes.deleteExpired(now: transaction.now)
        }
        next = count == countMax ? .controlTables : .trace
        return Progress(expiredCount: count)
    }
}
