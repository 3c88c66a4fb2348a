// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// The jobs that wait for a worker; the principals of requests take turns.
struct RequestQueue {
    /// A job whose turn it is.
    struct Turn {
        var job: RequestWorker.Job
        /// The number of the job in the order of submission.
        var number: Int64
        var submittedAt: MonotonicTime
    }

    private final class Entry: FairTask {
        let turn: Turn

        init(_ turn: Turn) { self.turn = turn }

        var principal: RequestPrincipal { turn.job.principal }
    }

    private let waiting = FairQueue<Entry>()
    /// The job that the worker performs.
    private var current: Entry?
    private var lastNumber: Int64 = 0
    /// The numbers of the waiting `confirm` jobs, and the counts of earlier jobs that wait.
    private var confirmations: [(number: Int64, earlierCount: Int)] = []
    /// Whether no further job is accepted.
    var isClosed = false

    /// The number of jobs that wait.
    var count: Int { waiting.count + confirmations.count }

    /// Adds a job; returns false when too many jobs wait, of its principal or in total.
    mutating func append(_ job: RequestWorker.Job, at moment: MonotonicTime) -> Bool {
        guard !isClosed, count < ClusterLimits.jobCountMax else { return false }
        lastNumber += 1
        if case .confirm = job {
            confirmations.append((lastNumber, waiting.count))
            return true
        }
        return waiting.append(Entry(Turn(job: job, number: lastNumber, submittedAt: moment)))
    }

    /// Queues the current job again, because some of its steps are left.
    mutating func putBack() {
        guard let current else { return }
        waiting.putBack(current)
        countEarlier(current, by: 1)
        self.current = nil
    }

    /// Ends the current job, and returns the next one; nil if none waits.
    mutating func next() -> Turn? {
        if let current { waiting.release(current) }
        current = nil
        if let first = confirmations.first, first.earlierCount == 0 {
            confirmations.removeFirst()
            return Turn(job: .confirm, number: first.number, submittedAt: .now)
        }
        guard let entry = waiting.next() else { return nil }
        current = entry
        countEarlier(entry, by: -1)
        return entry.turn
    }

    private mutating func countEarlier(_ entry: Entry, by difference: Int) {
        for index in confirmations.indices where entry.turn.number < confirmations[index].number {
            confirmations[index].earlierCount += difference
        }
    }
}

extension RequestWorker.Job {
    /// The principal to which the job is attributed.
    var principal: RequestPrincipal {
        switch self {
        case .perform(let request, _): request.principal
        case .identify(let credential, _, _): .device(credential)
        case .publish(let broadcast, _): .broadcasts(broadcast.topic)
        case .changeNode, .changeKeys, .finishUpgrade, .readServerState: .administrator
        case .noteSeen, .readDirectory, .trim, .readBroadcasts, .moveSlots, .reviewSecrets, .sweep, .exchangeCounts,
            .writeHistory, .search, .confirm:
            .server
        }
    }

    /// The time until which the job waits for PostgreSQL; nil if it has the full patience for each connection.
    func waitsUntil(_ submittedAt: MonotonicTime, patienceMilliseconds: Int64) -> MonotonicTime? {
        switch self {
        case .perform, .identify, .publish: submittedAt.advanced(byMilliseconds: patienceMilliseconds)
        default: nil
        }
    }

    /// Whether the job can be performed again if none of its transactions was committed.
    var isRepeatable: Bool {
        switch self {
        case .perform, .identify, .publish, .noteSeen, .readDirectory: true
        default: false
        }
    }

    /// Whether a device or a provider gets the answer, which must not contain messages of PostgreSQL.
    var isOfStranger: Bool {
        switch principal {
        case .device, .newDevices, .channels, .broadcasts: true
        case .administrator, .server: false
        }
    }
}
