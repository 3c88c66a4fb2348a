// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushNet
package import PushTLS

/// Receives messages, and learns which links are up, on the thread of the links.
package protocol NodeLinksDelegate: AnyObject {
    /// A link was established, or was lost; each is told once.
    func linkChanged(to instance: InstanceID, isUp: Bool)
    /// Messages have arrived from a node with a link.
    func take(_ messages: [NodeMessage], from instance: InstanceID)
}

/// The reason why a node cannot have links.
package enum LinkError: Error, Sendable {
    case system(NetError)
    case tls(TLSError)
}

/// The links of this node to all others, on the loop of the thread that uses them.
///
/// Of two nodes, the one with the lower number connects, and then sends its instance in a packet without messages. The
/// other node answers with its own instance if it knows the first one. A node uses the link after it has received the
/// expected instance:
///
/// ```
/// lower number   connects, TLS, upgrade ─▶ instance ──────────────▶ up
/// higher number              accepted ─▶ ···· ─▶ listed? ─▶ up, instance ┘
/// ```
/// Messages to an instance without a link are dropped. A lost connection is opened again after at most a second.
package final class NodeLinks: OutgoingLinkOwner {
    /// A connection that another node has opened, before its instance is listed.
    struct Newcomer {
        var link: AcceptedLink
        var instance: InstanceID?
    }

    /// The result of resolving a name.
    private struct Dialed: Sendable {
        var instance: InstanceID
        var attempt: Int
        var result: Result<ConnectingSocket, NetError>
    }

    /// The receiver of messages and changes.
    package weak var delegate: (any NodeLinksDelegate)?

    private let instance: InstanceID
    private let context: OutgoingLinkContext
    private let settings: LinkSettings
    private let log: EventLog
    private let dialed: Mailbox<Dialed>
    private var links: [NodeNumber: NodeLink] = [:]
    private(set) var newcomers: [NodeNumber: Newcomer] = [:]
    private var gathering: [NodeLink] = []
    private var pingTimer: TimerID?

    /// Creates the links of a node that knows no other node yet.
    ///
    /// - Parameters:
    ///   - instance: The instance of this node.
    ///   - credentials: The certificate of this node, and the cluster's authority.
    ///   - accepted: The mailbox of connections that the loops of the server accept.
    ///   - loop: The loop of the current thread.
    ///   - log: The log.
    ///   - settings: The intervals.
    /// - Throws: `LinkError.tls` for unusable credentials, `LinkError.system` without descriptors.
    package init(
        _ instance: InstanceID, _ credentials: PeerCredentials, accepted: Mailbox<AcceptedLink.Event>,
        on loop: EventLoop, log: EventLog, settings: LinkSettings = LinkSettings()
    ) throws(LinkError) {
        self.instance = instance
        self.settings = settings
        self.log = log
        do throws(TLSError) {
            context = OutgoingLinkContext(loop, try TLSContext(connectingWith: credentials))
        } catch {
            throw .tls(error)
        }
        do throws(NetError) { dialed = try Mailbox() } catch { throw .system(error) }
        do throws(NetError) {
            try loop.attach(accepted) { [weak self] events in
                for event in events { self?.take(event) }
            }
            try loop.attach(dialed) { [weak self] results in
                for result in results { self?.take(result) }
            }
        } catch {
            throw .system(error)
        }
        schedulePings()
    }

    /// Uses another certificate for connections that open from now on.
    package func renew(_ credentials: PeerCredentials) throws(TLSError) {
        context.tls = try TLSContext(connectingWith: credentials)
    }

    /// Uses a certificate of another authority, and closes all connections, which have certificates of the former one.
    package func replace(_ credentials: PeerCredentials) throws(TLSError) {
        try renew(credentials)
        let reason = "the authority of the cluster has changed"
        for newcomer in newcomers.values { newcomer.link.close(reason) }
        newcomers = [:]
        for link in links.values.sorted(by: { $0.node.instance.node < $1.node.instance.node })
        where link.transport != nil {
            drop(link, reason)
            connectLater(link)
        }
    }

    /// Closes all connections; nothing is reported any more.
    package func stop() {
        delegate = nil
        if let pingTimer { context.loop.cancel(pingTimer) }
        pingTimer = nil
        for link in links.values {
            if let timer = link.timer { context.loop.cancel(timer) }
            link.transport?.close("shutdown")
        }
        for newcomer in newcomers.values { newcomer.link.close("shutdown") }
        (links, newcomers) = ([:], [:])
    }

    /// The number of links that are up.
    package var upCount: Int { links.values.count { $0.isUp } }

    // MARK: Nodes

    /// Sets the nodes to which links are kept: opens those that are missing, and closes those to all others.
    ///
    /// - Parameter nodes: The last instance of each node; this node may be among them. At most 100 others are used.
    package func setNodes(_ nodes: [LinkedNode]) {
        let others = nodes.filter { $0.instance.node != instance.node }.prefix(LinkSettings.nodeCountMax)
        let wanted = Dictionary(others.map { ($0.instance.node, $0) }) { $1 }
        for number in links.keys.sorted() where links[number]?.node.instance != wanted[number]?.instance {
            remove(number)
        }
        for (number, node) in wanted.sorted(by: { $0.key < $1.key }) {
            if let link = links[number] {
                link.node = node
                continue
            }
            let link = NodeLink(node, sender: instance)
            links[number] = link
            if connects(to: number) { connect(link) } else { greet(number) }
        }
    }

    /// Whether this node connects to another one, and not the other way round.
    private func connects(to number: NodeNumber) -> Bool { instance.node < number }

    private func remove(_ number: NodeNumber) {
        guard let link = links.removeValue(forKey: number) else { return }
        if let timer = link.timer { context.loop.cancel(timer) }
        let reason = "the node has started again, or left the cluster"
        if link.isUp { drop(link, reason) } else { link.transport?.close(reason) }
    }

    /// Closes the connection of a link, if it has one, and reports that the link is lost.
    private func drop(_ link: NodeLink, _ reason: String) {
        link.transport?.close(reason)
        lost(link, reason)
    }

    private func lost(_ link: NodeLink, _ reason: String) {
        link.transport = nil
        _ = link.encoder.takePackets()
        let fields: KeyValuePairs = ["node": "\(link.node.instance.node.rawValue)", "reason": reason]
        guard link.isUp else { return log.info("node_link_failed", fields, about: fields[0].value) }
        link.isUp = false
        log.warning("node_link_lost", fields)
        delegate?.linkChanged(to: link.node.instance, isUp: false)
    }

    private func established(_ link: NodeLink) {
        link.isUp = true
        link.delay.reset()
        log.info("node_link_established", ["node": "\(link.node.instance.node.rawValue)"])
        delegate?.linkChanged(to: link.node.instance, isUp: true)
    }

    // MARK: Sending

    /// Sends messages to a node at the end of the loop's turn; drops them without a link.
    package func send(_ messages: [NodeMessage], to instance: InstanceID) {
        guard let link = links[instance.node], link.node.instance == instance, link.isUp else { return }
        for message in messages { link.encoder.append(message) }
        guard !link.isGathering else { return }
        link.isGathering = true
        if gathering.isEmpty { context.loop.atEndOfTurn { [weak self] in self?.flush() } }
        gathering.append(link)
    }

    /// Sends a message to all nodes to which a link is up.
    func sendToAll(_ message: NodeMessage) {
        for link in links.values { send([message], to: link.node.instance) }
    }

    private func flush() {
        let links = gathering
        gathering = []
        for link in links {
            link.isGathering = false
            let packets = link.encoder.takePackets()
            guard link.isUp, let transport = link.transport else { continue }
            transport.send(packets)
            guard link.transport === transport, transport.waitingByteCount > LinkSettings.waitingByteCountMax else {
                continue
            }
            drop(link, "more than \(LinkSettings.waitingByteCountMax) bytes wait for the node")
            connectLater(link)
        }
    }

    private func schedulePings() {
        pingTimer = context.loop.schedule(after: .milliseconds(settings.pingMilliseconds)) { [weak self] in
            guard let self else { return }
            for link in links.values { (link.transport as? OutgoingLink)?.tick() }
            schedulePings()
        }
    }

    // MARK: Connecting

    private func connect(_ link: NodeLink) {
        link.timer = nil
        link.attemptCount += 1
        let (node, attempt, mailbox) = (link.node, link.attemptCount, dialed)
        let dial = { @Sendable in
            let result = Result { () throws(NetError) in
                try ConnectingSocket(to: node.address, attempt: attempt - 1)
            }
            return Dialed(instance: node.instance, attempt: attempt, result: result)
        }
        // Resolving a name may take seconds.
        guard Sockets.isAddress(node.address.host) else {
            _ = Thread(name: "node-connect") { mailbox.post(dial()) }
            return
        }
        take(dial())
    }

    private func take(_ dialed: Dialed) {
        guard let link = links[dialed.instance.node], link.node.instance == dialed.instance,
            link.attemptCount == dialed.attempt, link.transport == nil
        else { return }
        do throws(NetError) {
            let socket = try dialed.result.get()
            let deadline = context.loop.now.advanced(byMilliseconds: settings.attemptMilliseconds)
            link.transport = try OutgoingLink(
                socket, to: link.node.instance.node, context, deadline: deadline, owner: self)
        } catch {
            lost(link, error.description)
            connectLater(link)
        }
    }

    /// Connects again after a random delay of at most a second.
    private func connectLater(_ link: NodeLink) {
        let number = link.node.instance.node
        guard connects(to: number), links[number] === link, link.timer == nil else { return }
        link.timer = context.loop.schedule(after: link.delay.next(random: .random(in: 0...1))) { [weak self] in
            self?.connect(link)
        }
    }

    /// Returns the link of a connection; nil if it has another one now.
    private func link(of connection: OutgoingLink) -> NodeLink? {
        links[connection.node].flatMap { $0.transport === connection ? $0 : nil }
    }

    func opened(_ connection: OutgoingLink) {
        connection.send([NodeMessageEncoder.greeting(from: instance)])
    }

    func received(_ packet: [UInt8], on connection: OutgoingLink) {
        guard let link = link(of: connection), let (sender, messages) = NodeMessageDecoder.decode(packet),
            sender == link.node.instance
        else { return }
        if !link.isUp {
            connection.isLink = true
            established(link)
        }
        if !messages.isEmpty { delegate?.take(messages, from: sender) }
    }

    func ended(_ connection: OutgoingLink, reason: String) {
        guard let link = link(of: connection) else { return }
        lost(link, reason)
        connectLater(link)
    }

    // MARK: Accepting

    private func take(_ event: AcceptedLink.Event) {
        switch event {
        case .opened(let accepted):
            guard !connects(to: accepted.node), accepted.node != instance.node else {
                return accepted.close("the node with the lower number connects")
            }
            let former = newcomers.updateValue(Newcomer(link: accepted), forKey: accepted.node)
            former?.link.close("the node has connected again")
        case .received(let accepted, let sender, let messages, let byteCount):
            accepted.read(byteCount: byteCount)
            received(messages, from: sender, on: accepted)
        case .closed(let accepted, let reason):
            if newcomers[accepted.node]?.link === accepted { newcomers[accepted.node] = nil }
            if let link = links[accepted.node], link.transport === accepted { lost(link, reason) }
        }
    }

    private func received(_ messages: [NodeMessage], from sender: InstanceID, on accepted: AcceptedLink) {
        if let link = links[accepted.node], link.transport === accepted {
            guard sender == link.node.instance, !messages.isEmpty else { return }
            delegate?.take(messages, from: sender)
        } else if newcomers[accepted.node]?.link === accepted {
            newcomers[accepted.node]?.instance = sender
            greet(accepted.node)
        }
    }

    /// Answers a node that has connected, if its instance is listed; then the link is up.
    private func greet(_ number: NodeNumber) {
        guard let link = links[number], let newcomer = newcomers[number], newcomer.instance == link.node.instance
        else { return }
        newcomers[number] = nil
        // The node connects again only after it has lost the former connection.
        if link.transport != nil { drop(link, "the node has connected again") }
        link.transport = newcomer.link
        newcomer.link.send([NodeMessageEncoder.greeting(from: instance)])
        established(link)
    }
}

extension NodeNumber: Comparable {
    package static func < (left: NodeNumber, right: NodeNumber) -> Bool { left.rawValue < right.rawValue }
}
