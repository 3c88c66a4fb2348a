// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushNet
import PushStore

@testable import PushCluster

/// A node of a simulation: a real `ClusterStore` whose process may be killed, stopped and cut off.
final class SimulatedNode: ClusterOutput {
    let number: Int
    unowned let simulation: Simulation
    /// The difference of the machine's clock, in milliseconds.
    private let skewMilliseconds: Int64
    private(set) var instance = InstanceID(rawValue: 0)
    private var store: ClusterStore?
    private var startCount: Int64 = 0
    private var isConnected = false
    /// The number of fail-overs before the process opened its connection.
    private var connection = 0
    /// Whether the process is stopped; what arrives then waits.
    private var isStopped = false
    private var waiting: [(ClusterStore) -> Void] = []
    private var wakeTime = Double.infinity
    /// Whether the process has read the stored broadcasts.
    var hasReadBroadcasts = false
    /// The time at which the worker has performed its last job.
    var workerIsFreeAt = 0.0
    /// The links that a fault cut.
    private var cutLinks: Set<Int> = []
    /// The times at which the last messages arrive at other nodes; a link keeps the order.
    private var arrivals: [Int: Double] = [:]

    init(_ number: Int, _ simulation: Simulation) {
        self.number = number
        self.simulation = simulation
        skewMilliseconds = Int64(simulation.chance(upTo: 4)) - 2
    }

    var isAlive: Bool { store != nil }
    /// The events that the process has recorded.
    var events: [TraceEvent] { store?.trace?.take() ?? [] }
    var isRunning: Bool { store != nil && !isStopped }
    func hasStream(of device: DeviceID) -> Bool { store?.host.stream(of: device) != nil }

    // MARK: The process

    func start() {
        guard store == nil else { return }
        startCount += 1
        // The number must contain the node's, like those that a node makes.
        instance = InstanceID(rawValue: startCount << 30 | Int64(number) << 12)
        let (clock, skew) = (simulation.clock, skewMilliseconds)
        var configuration = NodeConfiguration(instance) { clock.wallTime(skewMilliseconds: skew) }
        configuration.hasTrace = simulation.options.hasTrace
        store = ClusterStore(configuration, slots: SlotMap(shardCount: 1), shardCount: 1, output: self)
        waiting = []
        isStopped = false
        isConnected = false
        (hasReadBroadcasts, workerIsFreeAt) = (false, 0)
        cutLinks = []
        simulation.shard.register(instance)
        connectIfNeeded()
        for other in simulation.nodes where other !== self && other.isAlive {
            simulation.after(simulation.chance(upTo: 200)) { [self] in connect(to: other) }
        }
    }

    /// Ends the process like SIGKILL; it starts again later.
    func kill() {
        guard store != nil else { return }
        store = nil
        let ended = instance
        for other in simulation.nodes where other !== self {
            simulation.after(simulation.chance(upTo: 5)) { other.linkChanged(to: ended, isUp: false) }
        }
        for device in simulation.devices { device.lost(self) }
        simulation.after(300 + simulation.chance(upTo: 2_000)) { [self] in start() }
    }

    /// Stops the process like SIGSTOP, and continues it later.
    func stop(forMilliseconds duration: Double) {
        guard isRunning else { return }
        isStopped = true
        let stopped = instance
        simulation.after(duration) { [self] in
            guard stopped == instance, store != nil else { return }
            isStopped = false
            let actions = waiting
            waiting = []
            for action in actions { turn(action) }
            turn { _ in }
        }
    }

    /// Runs a turn of the store, or lets it wait while the process is stopped.
    func turn(_ action: @escaping (ClusterStore) -> Void) {
        guard let store else { return }
        guard !isStopped else { return waiting.append(action) }
        store.beginTurn(at: simulation.clock.moment)
        action(store)
        store.endTurn()
        guard !store.isSuperseded else { return kill() }
        scheduleWake(store)
    }

    private func scheduleWake(_ store: ClusterStore) {
        let due = store.nextDue
        guard due < .future else { return }
        let time = Double(due.nanoseconds - 1_000_000_000) / 1_000_000
        guard time < wakeTime || wakeTime <= simulation.now else { return }
        wakeTime = time
        simulation.after(max(time - simulation.now, 0.01)) { [self] in
            if wakeTime == time { wakeTime = .infinity }
            turn { _ in }
        }
    }

    // MARK: The shard

    func send(_ batch: ShardBatch, number: Int64, toShard shard: Int) {
        // A process that was stopped may use a connection to the former primary, which executes nothing any more.
        guard connection == simulation.shard.failOverCount || simulation.options.hidesFailover else { return }
        let sender = instance
        simulation.shard.execute(batch, of: instance) { [self] result in
            guard sender == instance else { return }
            turn { [self] store in
                store.take(result, of: number, fromShard: 0)
                if simulation.options.hasBroadcasts, let heartbeat = result.heartbeat {
                    readBroadcasts(heartbeat, store)
                }
            }
        }
    }

    func connectIfNeeded() {
        guard simulation.shard.isAvailable, !isConnected, store != nil else { return }
        isConnected = true
        let new = simulation.shard.failOverCount
        turn { [self] store in
            connection = new
            store.connected(toShard: 0)
        }
    }

    func disconnected() {
        guard isConnected else { return }
        isConnected = false
        turn { $0.disconnected(fromShard: 0) }
    }

    // MARK: Links

    func send(_ messages: [NodeMessage], to instance: InstanceID) {
        let sender = self.instance
        guard let other = simulation.nodes.first(where: { $0.instance == instance }), !isCut(from: other) else {
            return
        }
        for message in messages {
            if simulation.options.isLossy, simulation.chance() < 0.02 { continue }
            var delay = simulation.choice([0.2, 1, 4]) * (0.5 + simulation.chance())
            if simulation.options.isSlow, simulation.chance() < 0.02 { delay = simulation.chance(upTo: 5_000) }
            let arrival = max(simulation.now + delay, arrivals[other.number] ?? 0)
            arrivals[other.number] = arrival
            simulation.after(arrival - simulation.now) { [self] in
                guard other.instance == instance, !isCut(from: other) else { return }
                other.turn { $0.take(message, from: sender) }
            }
        }
    }

    private func isCut(from other: SimulatedNode) -> Bool {
        cutLinks.contains(other.number) || other.cutLinks.contains(number)
    }

    private func connect(to other: SimulatedNode) {
        guard isAlive, other.isAlive, !isCut(from: other) else { return }
        arrivals[other.number] = nil
        linkChanged(to: other.instance, isUp: true)
        other.linkChanged(to: instance, isUp: true)
    }

    private func linkChanged(to instance: InstanceID, isUp: Bool) {
        turn { $0.linkChanged(to: instance, isUp: isUp) }
    }

    /// Lets the link to another node transmit nothing, which neither notices.
    func silenceLink(to other: SimulatedNode) { cutLinks.insert(other.number) }

    /// Cuts the link to another node; both notice it, and connect again later.
    func cutLink(to other: SimulatedNode, forMilliseconds duration: Double) {
        guard other !== self, isAlive, other.isAlive, !isCut(from: other) else { return }
        cutLinks.insert(other.number)
        let (mine, theirs) = (instance, other.instance)
        simulation.after(simulation.chance(upTo: 300)) { [self] in
            if mine == instance { linkChanged(to: theirs, isUp: false) }
        }
        simulation.after(simulation.chance(upTo: 300)) {
            if theirs == other.instance { other.linkChanged(to: mine, isUp: false) }
        }
        simulation.after(300 + duration) { [self] in
            guard mine == instance else { return }
            cutLinks.remove(other.number)
            connect(to: other)
        }
    }

    // MARK: Loops

    func reply(_ replies: [StoreReply], toLoop loop: UInt32) {
        let sender = instance
        for reply in replies {
            switch reply {
            case .accepted(let answer): answered(answer, isAccepted: true, sender)
            case .refused(_, _, let answer): answered(answer, isAccepted: false, sender)
            case .deliver(let notifications, let stream):
                for device in simulation.devices { device.deliver(notifications, on: stream, from: self) }
            case .ended(_, let stream), .performed(.failure, let stream):
                for device in simulation.devices { device.ended(stream) }
            default: break
            }
        }
    }

    private func answered(_ answer: ReplyAddress, isAccepted: Bool, _ sender: InstanceID) {
        simulation.after(0.2 + simulation.chance()) { [self] in
            guard sender == instance, store != nil else { return }
            for provider in simulation.providers { provider.answered(answer.slot, isAccepted: isAccepted) }
            for publisher in simulation.publishers { publisher.answered(answer.slot, isAccepted: isAccepted) }
        }
    }
}
