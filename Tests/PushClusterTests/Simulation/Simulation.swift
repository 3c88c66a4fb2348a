// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import PushStore
import Synchronization
import TestSupport

@testable import PushCluster

/// A cluster in one thread: real `ClusterStore`s, with a shard, links, devices, providers and a clock in memory.
///
/// The seed decides every delay and every fault, so a run with the same seed is the same.
final class Simulation {
    enum Fault: CaseIterable {
        /// A device connects to another node while its earlier connection is open.
        case move
        /// A device leaves for up to a second.
        case leave
        /// A node is killed and starts again.
        case kill
        /// A node is stopped for up to five seconds.
        case stop
        /// A link between two nodes is cut for up to two seconds.
        case cut
        /// The shard fails over to a standby.
        case failOver
        /// A node sends its devices away for up to two seconds.
        case drain
        /// No standby confirms a commit for up to five seconds.
        case stall
    }

    /// The variants of a run.
    struct Options {
        /// Whether some messages between nodes take up to five seconds.
        var isSlow = false
        /// Whether some messages between nodes are lost.
        var isLossy = false
        /// The kinds of faults that happen.
        var faults: Set<Fault> = Set(Fault.allCases)
        /// Whether the link between two nodes transmits nothing after the first second, without being closed.
        var hasSilentLink = false
        /// Whether the shard fails over for longer than a lease, and then waits as long for a standby.
        var hasLongFailOver = false
        /// Whether the shard's clock is set twice, by up to 25 seconds.
        var setsClock = false
        /// Whether two publishers send broadcasts to all devices.
        var hasBroadcasts = false
        /// Whether nodes record a trace.
        var hasTrace = false
        /// Whether writers do not find the hosts of devices, a mistake that the run must notice.
        var hidesHosts = false
        /// Whether nodes do not notice that a fail-over lost connections, a mistake that the run must notice.
        var hidesFailover = false
    }

    /// The time in milliseconds that a run lasts before everything is repaired.
    static let faultyMilliseconds = 6_000.0

    let options: Options
    let clock = SimulatedClock()
    private(set) var random: SeededGenerator
    private(set) lazy var shard = SimulatedShard(self)
    private(set) var nodes: [SimulatedNode] = []
    private(set) var devices: [SimulatedDevice] = []
    private(set) var providers: [SimulatedProvider] = []
    private(set) var publishers: [SimulatedPublisher] = []
    private(set) var broadcastFindings: BroadcastFindings?
    /// A digest of everything that happened, to compare runs with the same seed.
    private(set) var trace: UInt64 = 0
    private var events = EventHeap()
    private var nextExchange: UInt32 = 0

    init(seed: UInt64, _ options: Options = Options()) {
        self.options = options
        random = SeededGenerator(seed: seed)
        nodes = (0..<3).map { SimulatedNode($0, self) }
        devices = (0..<2).map { SimulatedDevice(DeviceID(rawValue: UInt64($0 + 1)), self) }
        providers = devices.flatMap { device in (0..<2).map { SimulatedProvider($0, device, self) } }
        // Two of the publishers have a common channel.
        let channels: [Int64] = options.hasBroadcasts ? [1, 1, 2] : []
        publishers = channels.map { SimulatedPublisher(ChannelNumber(rawValue: $0), self) }
    }

    // MARK: Time and chance

    /// The time in milliseconds since the start.
    var now: Double { clock.milliseconds }

    /// Runs a closure after a delay in milliseconds.
    func after(_ delay: Double, _ action: @escaping () -> Void) { events.push(now + max(delay, 0), action) }

    /// Runs until a time in milliseconds.
    func run(until end: Double) {
        while let (time, action) = events.pop(before: end) {
            clock.set(max(time, now))
            trace = (trace ^ time.bitPattern) &* 0x0000_0100_0000_01b3
            action()
        }
        clock.set(end)
    }

    /// Returns a number from 0 up to a limit.
    func chance(upTo limit: Double = 1) -> Double { Double.random(in: 0..<limit, using: &random) }

    /// Returns one of some values.
    func choice<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }

    func note(_ value: UInt64) { trace = (trace ^ value) &* 0x0000_0100_0000_01b3 }

    /// Returns an address for a connection or a request, which is not used again.
    func nextAddress() -> UInt32 {
        nextExchange += 1
        return nextExchange
    }

    // MARK: A run

    /// Runs providers, devices and faults, then repairs everything and returns what was found.
    func run() -> SimulationFindings {
        for node in nodes { node.start() }
        for device in devices { after(chance(upTo: 1_000)) { device.connect(self.choice(self.nodes)) } }
        for provider in providers { after(chance(upTo: 1_000)) { provider.sendNext() } }
        for publisher in publishers { after(chance(upTo: 1_000)) { publisher.sendNext() } }
        if options.hasSilentLink { after(1_000) { self.nodes[0].silenceLink(to: self.nodes[1]) } }
        if options.hasLongFailOver {
            after(500) { self.shard.failOver(pauseMilliseconds: 3_500) }
            after(600) { self.shard.stall(milliseconds: 7_000 + self.chance(upTo: 500)) }
        }
        if options.setsClock {
            after(1_500 + chance(upTo: 1_000)) {
                self.clock.setShard(aheadMilliseconds: self.chance(upTo: 50_000) - 25_000)
            }
            after(3_000 + chance(upTo: 2_000)) { self.clock.setShard(aheadMilliseconds: self.chance(upTo: 5_000)) }
        }
        scheduleFaults()
        run(until: Self.faultyMilliseconds + 3_000)
        for device in devices where !device.isConnected { device.connect(liveNode()) }
        run(until: now + 2_000)
        let late = providers.flatMap(\.accepted).filter { !$0.device.hasReceived($0) }
        let lateBroadcasts = devices.flatMap { device in
            publishers.flatMap(\.sent).filter { device.position(of: $0.uniqueID) == nil }.map { (device, $0.uniqueID) }
        }
        for device in devices { device.connect(liveNode()) }
        run(until: now + 3_000)
        if options.hasBroadcasts { broadcastFindings = BroadcastFindings(self, late: lateBroadcasts) }
        let reviewedCount = strayStreamCount
        if reviewedCount > 0 { run(until: now + 61_000) }
        // The actions that are left refer to the simulation.
        defer { events = EventHeap() }
        return SimulationFindings(self, late: late, reviewedCount: reviewedCount)
    }

    /// The number of streams that are left although their devices have later ones on other nodes.
    var strayStreamCount: Int { devices.reduce(0) { $0 + $1.strayStreamCount } }

    func liveNode() -> SimulatedNode { nodes.first(where: \.isRunning) ?? nodes[0] }

    private func scheduleFaults() {
        var time = 200.0
        var hasPause = false
        while time < Self.faultyMilliseconds - 500 {
            time += chance(upTo: 1_000)
            let (kind, device, node) = (choice(Fault.allCases), choice(devices), choice(nodes))
            guard options.faults.contains(kind) else { continue }
            switch kind {
            case .move: after(time) { device.connect(self.choice(self.nodes)) }
            case .leave:
                after(time) { device.leave() }
                after(time + chance(upTo: 1_000)) { if !device.isConnected { device.connect(self.choice(self.nodes)) } }
            case .kill: after(time) { node.kill() }
            case .stop:
                let duration = min(chance(upTo: 5_000), Self.faultyMilliseconds + 1_000 - time)
                after(time) { node.stop(forMilliseconds: duration) }
            case .cut:
                let (other, duration) = (choice(nodes), chance(upTo: 2_000))
                after(time) { node.cutLink(to: other, forMilliseconds: duration) }
            case .drain:
                let duration = chance(upTo: 2_000)
                after(time) { self.shard.setDraining(node, true) }
                after(time + duration) { self.shard.setDraining(node, false) }
            case .stall:
                let duration = min(chance(upTo: 5_000), Self.faultyMilliseconds + 1_000 - time)
                after(time) { self.shard.stall(milliseconds: duration) }
            case .failOver:
                guard !hasPause else { continue }
                hasPause = true
                let duration = 300 + chance(upTo: 1_500)
                // A move just before the fail-over loses the answer to a registration more often than a random move.
                if options.faults.contains(.move) {
                    after(time - chance(upTo: 30)) { device.connect(self.choice(self.nodes)) }
                }
                after(time) { self.shard.failOver(pauseMilliseconds: duration) }
            }
        }
    }
}

/// The clock of a simulation.
final class SimulatedClock: Sendable {
    private let microseconds = Atomic<Int64>(0)
    private let shardAheadMicroseconds = Atomic<Int64>(0)

    var milliseconds: Double { Double(microseconds.load(ordering: .relaxed)) / 1_000 }

    func set(_ milliseconds: Double) { microseconds.store(Int64(milliseconds * 1_000), ordering: .relaxed) }

    var moment: MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000 + microseconds.load(ordering: .relaxed) * 1_000)
    }

    /// The shard's UNIX time at the start, in microseconds.
    static let shardStart: Int64 = 1_800_000_000_000_000

    /// The shard's UNIX time in microseconds.
    var shardTime: Int64 { Self.shardStart + microseconds.load(ordering: .relaxed) + shardAhead }

    /// The time in microseconds by which the shard's clock is ahead.
    var shardAhead: Int64 { shardAheadMicroseconds.load(ordering: .relaxed) }

    func setShard(aheadMilliseconds: Double) {
        shardAheadMicroseconds.store(Int64(aheadMilliseconds * 1_000), ordering: .relaxed)
    }

    /// The wall-clock time on a machine whose clock differs.
    func wallTime(skewMilliseconds: Int64) -> Timestamp {
        Timestamp(
            unixMilliseconds: 1_800_000_000_000 + microseconds.load(ordering: .relaxed) / 1_000 + skewMilliseconds)
    }
}

/// The events of a simulation in the order of their times, and of their creation at the same time.
private struct EventHeap {
    private var entries: [(time: Double, number: Int, action: () -> Void)] = []
    private var lastNumber = 0

    mutating func push(_ time: Double, _ action: @escaping () -> Void) {
        lastNumber += 1
        entries.append((time, lastNumber, action))
        var child = entries.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func pop(before end: Double) -> (time: Double, action: () -> Void)? {
        guard let first = entries.first, first.time <= end else { return nil }
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count && isBefore(child, least) {
                least = child
            }
            guard least != parent else { return (first.time, first.action) }
            entries.swapAt(parent, least)
            parent = least
        }
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (entries[left].time, entries[left].number) < (entries[right].time, entries[right].number)
    }
}
