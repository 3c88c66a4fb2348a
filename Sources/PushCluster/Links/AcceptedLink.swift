// SPDX-License-Identifier: Apache-2.0

package import PushNet
internal import Synchronization

/// A connection that another node has opened to this one.
///
/// Its socket belongs to a loop of the server, which decodes packets; the thread of `NodeLinks` knows the nodes.
/// Mailboxes connect the two:
///
/// ```
/// socket ─▶ data loop: WebSocket, decoding ──Event──▶ NodeLinks ─▶ ClusterStore
///    ◀───── data loop: WebSocket           ◀─Command──    encoding ◀─────┘
/// ```
/// Neither mailbox grows beyond bounds, because the bytes in them are counted here.
package final class AcceptedLink: LinkTransport, Sendable {
    /// A message from a loop to `NodeLinks`.
    package enum Event: Sendable {
        /// A node with a certificate of the cluster's authority has connected.
        case opened(AcceptedLink)
        /// A packet has arrived: its sender, which is an instance of the link's node, its messages and its size.
        case received(AcceptedLink, from: InstanceID, [NodeMessage], byteCount: Int)
        /// The connection is closed.
        case closed(AcceptedLink, reason: String)
    }

    /// A message from `NodeLinks` to the loop that has the socket.
    package enum Command: Sendable {
        case send(AcceptedLink, [[UInt8]])
        case close(AcceptedLink, reason: String)
    }

    /// The node, as its certificate names it.
    package let node: NodeNumber
    private let events: Mailbox<Event>
    private let commands: Mailbox<Command>
    // Relaxed ordering suffices for all counts: they are only compared with a limit.
    private let postedByteCount = Atomic(0)
    private let outputByteCount = Atomic(0)
    private let unreadByteCount = Atomic(0)

    /// Creates a link for an open WebSocket, on its loop.
    ///
    /// - Parameters:
    ///   - node: The node that the certificate names.
    ///   - events: The mailbox of `NodeLinks`.
    ///   - commands: The mailbox of the loop.
    package init(to node: NodeNumber, events: Mailbox<Event>, commands: Mailbox<Command>) {
        self.node = node
        self.events = events
        self.commands = commands
        events.post(.opened(self))
    }

    // MARK: On the loop of the socket

    /// Decodes and passes on a packet; drops one of another version, of another node, or with an error.
    ///
    /// - Parameter packet: A binary message.
    /// - Returns: Whether `NodeLinks` has read enough of what arrived before; if not, close the connection.
    package func received(_ packet: Span<UInt8>) -> Bool {
        let bytes = packet.copied
        guard let (sender, messages) = NodeMessageDecoder.decode(bytes), sender.node == node else { return true }
        let unread = unreadByteCount.add(bytes.count, ordering: .relaxed).newValue
        guard unread <= LinkSettings.waitingByteCountMax else { return false }
        events.post(.received(self, from: sender, messages, byteCount: bytes.count))
        return true
    }

    /// Notes that packets were taken from the mailbox and given to the WebSocket.
    package func took(_ packets: [[UInt8]]) {
        postedByteCount.subtract(packets.byteCount, ordering: .relaxed)
    }

    /// Notes how many bytes wait in the WebSocket.
    package func outputWaits(byteCount: Int) { outputByteCount.store(byteCount, ordering: .relaxed) }

    /// Reports the end of the connection.
    package func closed(_ reason: String) { events.post(.closed(self, reason: reason)) }

    // MARK: On the thread of NodeLinks

    var waitingByteCount: Int {
        postedByteCount.load(ordering: .relaxed) + outputByteCount.load(ordering: .relaxed)
    }

    func send(_ packets: [[UInt8]]) {
        postedByteCount.add(packets.byteCount, ordering: .relaxed)
        commands.post(.send(self, packets))
    }

    func close(_ reason: String) { commands.post(.close(self, reason: reason)) }

    /// Notes that a packet was taken from the mailbox.
    func read(byteCount: Int) { unreadByteCount.subtract(byteCount, ordering: .relaxed) }
}

/// The destination of the links that the loops of a server accept.
package struct AcceptedLinks: Sendable {
    /// The mailbox of `NodeLinks`.
    package let events: Mailbox<AcceptedLink.Event>
    package let settings: LinkSettings

    package init(_ events: Mailbox<AcceptedLink.Event>, settings: LinkSettings = LinkSettings()) {
        self.events = events
        self.settings = settings
    }
}

extension [[UInt8]] {
    fileprivate var byteCount: Int { reduce(0) { $0 + $1.count } }
}

extension Span<UInt8> {
    /// The bytes in an array.
    var copied: [UInt8] { unsafe withUnsafeBufferPointer { unsafe [UInt8]($0) } }
}
