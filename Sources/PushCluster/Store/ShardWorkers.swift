// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// The workers of a node: two for each shard, one for the control data, one for the trace, and one that moves slots.
struct ShardWorkers: Sendable {
    private static let perShardCount = 2

    private let all: [RequestWorker]
    private let slots: Lock<SlotMap>

    /// Starts the workers.
    ///
    /// - Parameters:
    ///   - configuration: The addresses of the shards.
    ///   - slots: The current assignment of devices to shards.
    ///   - start: Creates the worker with an index. Its jobs try repeatedly to reach `patientShards`.
    init(
        _ configuration: PostgresStoreConfiguration, _ slots: Lock<SlotMap>,
        start: (_ index: Int, _ patientShards: Range<Int>) -> RequestWorker
    ) {
        self.slots = slots
        let shardCount = configuration.addresses.count
        let requestWorkers = (0..<shardCount * Self.perShardCount).map { start($0, 0..<shardCount) }
        let count = requestWorkers.count
        // A shard that is down must delay neither the control data, without which the node accepts nothing, nor the trace.
        all = requestWorkers + [start(count, 0..<1), start(count + 1, 0..<1), start(count + 2, 0..<shardCount)]
    }

    var count: Int { all.count }
    /// The number of jobs that wait.
    var waitingCount: Int { all.reduce(0) { $0 + $1.waitingCount } }
    /// The worker for changes of control data.
    var control: RequestWorker { all[0] }
    /// The worker that reads the control data after changes of other nodes.
    var directory: RequestWorker { all[count - 3] }
    /// The last request worker of the shard with the control data.
    var last: RequestWorker { all[Self.perShardCount - 1] }
    /// The worker that writes and searches the trace, and writes delivery histories and counters.
    var history: RequestWorker { all[count - 2] }
    /// The worker that moves slots; a move takes a long time.
    var mover: RequestWorker { all[count - 1] }

    subscript(index: Int) -> RequestWorker { all[index] }
    subscript(ofShard shard: Int) -> RequestWorker { all[shard * Self.perShardCount] }

    /// Returns a worker of the shard of a device.
    ///
    /// - Parameters:
    ///   - device: The device; nil for the shard with the control data.
    ///   - hint: A number that all requests of the device share, so that they keep their order.
    subscript(device: DeviceID?, hint: UInt8?) -> RequestWorker {
        let shard = device.map { device in slots.withLock { $0.shard(of: device) } } ?? 0
        return all[shard * Self.perShardCount + Int(hint ?? 0) % Self.perShardCount]
    }

    /// Returns the worker for a request.
    func worker(for request: StoreRequest) -> RequestWorker {
        switch request {
        case .device(_, let credential): self[credential.device, credential.secretHash.first]
        case .administer(let device, _): self[device, nil]
        case .enrol(let new): self[new.device, nil]
        case .allDevices, .control, .backup, .cluster: control
        }
    }

    /// Submits a job to all workers; returns the number of workers that accepted it.
    func submitToAll(_ job: RequestWorker.Job) -> Int { all.count { $0.submit(job) } }

    /// Ends all workers except `history`; blocks until they have done their jobs.
    ///
    /// A job fails if it must wait for PostgreSQL for longer than a stopping node waits.
    func stopRequests() {
        // All workers close first, so that their waits overlap.
        for worker in all where worker !== history { worker.close(waitingFor: ClusterLimits.stopMilliseconds) }
        for worker in all where worker !== history { worker.join() }
    }

    /// Ends the worker `history`; blocks until it has done its jobs.
    func stopHistory() {
        history.close(waitingFor: ClusterLimits.stopMilliseconds)
        history.join()
    }
}
