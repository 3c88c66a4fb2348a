// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// The common state of the parts of a node: its settings, the time of the turn, and everything that the turn sends.
final class NodeContext {
    let configuration: NodeConfiguration
    /// The monotonic time of this turn.
    var moment = MonotonicTime.past
    /// The wall-clock time of this turn.
    var now = Timestamp.unixEpoch
    var ids: NotificationIDs
    var routes: Routes
    var control: ControlVersions
    /// The number of notifications whose senders wait.
    var waitingCount = 0
    var counters = NodeCounters()
    let metrics: ClusterMetrics
    var writtenCounts = WrittenCounts()
    /// Whether the clocks of the machine and of PostgreSQL differ too much to accept or deliver anything.
    var isClockWrong = false
    /// The time for which the ceilings of all nodes, as this node has read them, are recent enough.
    var ceilingLease: Lease
    /// Whether the node has sent all its devices away.
    var isDrained = false
    /// The instances to which a link is up.
    var links: Set<InstanceID> = []
    /// The instances that left a question unanswered, and the times until which they get no other question.
    var silences: [InstanceID: MonotonicTime] = [:]
    /// The events of notifications; nil without a trace.
    let trace: NodeTrace?
    /// The latest time of an event in `trace`.
    var lastTraceTime = Timestamp.unixEpoch
    /// A number for the team of each app.
    var teams: [TopicID: Int] = [:]
    private(set) var nodes: [NodeNumber: ShardResult.Node] = [:]
    private var steps = FIFOQueue<(WaitingNotification, Step)>()
    private var messages: [InstanceID: [NodeMessage]] = [:]
    private var replies: [UInt32: [StoreReply]] = [:]
    private var lastNumber: Int64 = 0

    init(_ configuration: NodeConfiguration) {
        self.configuration = configuration
        control = ControlVersions(leaseMilliseconds: configuration.leaseMilliseconds)
        ceilingLease = Lease(durationMilliseconds: configuration.leaseMilliseconds)
        metrics = configuration.metrics.cluster ?? ClusterMetrics()
        ids = NotificationIDs(configuration.instance.node, above: configuration.instance.rawValue)
        trace = configuration.hasTrace ? NodeTrace() : nil
        routes = Routes(countMax: configuration.routeCountMax)
    }

    var instance: InstanceID { configuration.instance }

    /// The least number of the broadcasts that a heartbeat asks for.
    var leastBroadcast: Int64 {
        guard ids.clock.isKnown else { return .max }
        return NotificationIDLayout.least(
            at: ids.clock.latest(at: moment) / 1_000 - ClusterLimits.broadcastMilliseconds)
    }

    /// The instances with recent heartbeats, without this one.
    var otherNodes: [InstanceID] {
        nodes.values.filter { $0.isLive && $0.instance != instance }.map(\.instance)
            .sorted { $0.rawValue < $1.rawValue }
    }

    /// The highest version of the control data that the node knows.
    var controlVersion: Int64 { control.known }

    /// Returns the control data with which the loop of a provider has checked its request.
    func check(_ answer: ReplyAddress) -> ControlVersions.Check { control.check(byLoop: answer.loop, at: moment) }

    // MARK: Steps

    /// Returns whether the node that sent a notification no longer waits for the answer, and writes the notification.
    func isLate(_ waiting: WaitingNotification) -> Bool { ids.clock.latest(at: moment) > waiting.end }

    /// Schedules the next step of a notification.
    func step(_ waiting: WaitingNotification, _ step: Step) { steps.append((waiting, step)) }

    func nextStep() -> (WaitingNotification, Step)? { steps.popFirst() }

    // MARK: Nodes

    /// Returns the route to a host that a shard named.
    func route(to host: ShardResult.Host?) -> Routes.Route {
        guard let host, host.isLive else { return .nobody }
        // A row of this node whose stream has ended.
        if host.instance == instance { return .nobody }
        return .host(host.instance)
    }

    /// Records the nodes that the shard knows.
    func setNodes(_ rows: [ShardResult.Node]) {
        for row in rows { nodes[row.instance.node] = row }
    }

    /// Returns whether an answer of an instance can be expected.
    ///
    /// A question to a silent node only costs time, so PostgreSQL is faster.
    func answers(_ instance: InstanceID) -> Bool {
        guard links.contains(instance) else { return false }
        return silences[instance].map { $0 <= moment } ?? true
    }

    /// Records that an instance did not answer a question in time.
    func noteSilence(of instance: InstanceID) {
        silences[instance] = moment.advanced(byMilliseconds: configuration.tellingMilliseconds)
    }

    // MARK: Sending

    /// Returns a number that connects a question with its answer.
    func nextNumber() -> Int64 {
        lastNumber += 1
        return lastNumber
    }

    func send(_ message: NodeMessage, to instance: InstanceID) { messages[instance, default: []].append(message) }

    func reply(_ reply: StoreReply, to address: ReplyAddress) { replies[address.loop, default: []].append(reply) }

    /// Sends everything that the turn collected.
    func flush(to output: any ClusterOutput) {
        for loop in replies.keys.sorted() { output.reply(replies[loop] ?? [], toLoop: loop) }
        replies.removeAll(keepingCapacity: true)
        for (instance, messages) in messages.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            output.send(messages, to: instance)
        }
        messages.removeAll(keepingCapacity: true)
    }
}
