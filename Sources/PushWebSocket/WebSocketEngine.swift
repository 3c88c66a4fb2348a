// SPDX-License-Identifier: Apache-2.0

/// A source of masks that an observer of the messages cannot predict.
///
/// - SeeAlso: RFC 6455, section 10.3
package typealias MaskSource = () -> UInt32

/// The state that all WebSocket connections of one thread share, so that an idle connection costs almost nothing.
///
/// wslay's contexts are large, so a connection has one only inside a message.
package final class WebSocketEngine {
    /// The side on which a program uses its connections.
    package enum Role: Sendable {
        /// Accepts masked frames and sends unmasked ones.
        case server
        /// Accepts unmasked frames and masks its own.
        case client
    }

    /// The type of the messages that a program exchanges.
    package enum MessageKind: Sendable {
        /// UTF-8, which is validated.
        case text
        case binary
    }

    private let role: Role
    private let messageKind: MessageKind
    private let messageByteCountMax: Int
    private let makeMask: MaskSource
    let writer: FrameWriter
    /// The counts of the thread's connections.
    package let metrics: WebSocketMetrics
    private var spareReader: FrameReader?
    /// Spare buffers: as many as the connections with output in one turn of the thread, up to a bound.
    private var spareOutputs: [[UInt8]] = []
    private static let spareOutputCountMax = 64
    /// The capacity in bytes above which a buffer is not kept; most hold one notification.
    private static let spareOutputByteCountMax = 4096

    /// Creates the shared state.
    ///
    /// - Parameters:
    ///   - role: The role in every connection.
    ///   - messageKind: The only accepted type of messages.
    ///   - messageByteCountMax: The longest accepted message in bytes.
    ///   - metrics: The counts of the thread's connections.
    ///   - makeMask: The source of masks, used only for a client.
    package init(
        role: Role, messageKind: MessageKind = .text, messageByteCountMax: Int,
        metrics: WebSocketMetrics = WebSocketMetrics(),
        makeMask: @escaping MaskSource
    ) {
        self.role = role
        self.messageKind = messageKind
        self.metrics = metrics
        self.messageByteCountMax = messageByteCountMax
        self.makeMask = makeMask
        writer = FrameWriter(makeMask: role == .client ? makeMask : nil)
    }

    /// Whether the peers are clients, whose frames are counted.
    var isServer: Bool { role == .server }

    /// Returns a reader for the first bytes of a message.
    func takeReader() -> FrameReader {
        guard let reader = spareReader else {
            return FrameReader(
                isServer: role == .server, messageKind: messageKind, messageByteCountMax: messageByteCountMax,
                makeMask: makeMask)
        }
        spareReader = nil
        return reader
    }

    /// Keeps a reader that is between messages for the next connection that needs one.
    func recycle(_ reader: FrameReader) { spareReader = reader }

    /// Returns an empty buffer for output.
    func takeOutput() -> [UInt8] { spareOutputs.popLast() ?? [] }

    /// Keeps the memory of a buffer whose bytes were sent.
    func recycle(_ output: consuming [UInt8]) {
        guard output.capacity > 0, output.capacity <= Self.spareOutputByteCountMax,
            spareOutputs.count < Self.spareOutputCountMax
        else { return }
        output.removeAll(keepingCapacity: true)
        spareOutputs.append(output)
    }
}
