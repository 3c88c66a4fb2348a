// SPDX-License-Identifier: Apache-2.0

/// A source of masks that an observer of the messages cannot predict.
///
/// - SeeAlso: RFC 6455, section 10.3
package typealias MaskSource = () -> UInt32

/// The state that all WebSocket connections of one thread share, so that an idle connection costs almost nothing.
///
/// wslay's contexts are large: all connections share one writer, and a connection has a reader only inside a message.
package final class WebSocketEngine {
    /// The side on which a program uses its connections.
    package enum Role: Sendable {
        /// Accepts masked frames and sends unmasked ones.
        case server
        /// Accepts unmasked frames and masks its own.
        case client
    }

    private let role: Role
    private let messageByteCountMax: Int
    private let makeMask: MaskSource
    private let writer: FrameWriter
    private var spareReader: FrameReader?
    /// Spare buffers, up to a bound: as many as the connections with output in one turn of the thread.
    private var spareOutputs: [[UInt8]] = []
    private var spareOutputByteCount = 0
    /// The largest size of spare buffers in bytes; the rest is released to the system.
    private static let spareOutputByteCountMax = 64 * 1024

    /// Creates the shared state.
    ///
    /// - Parameters:
    ///   - role: The role in every connection.
    ///   - messageByteCountMax: The longest accepted message in bytes.
    ///   - makeMask: The source of masks, used only for a client.
    package init(role: Role, messageByteCountMax: Int, makeMask: @escaping MaskSource) {
        self.role = role
        self.messageByteCountMax = messageByteCountMax
        self.makeMask = makeMask
        writer = FrameWriter(isMasking: role == .client, makeMask: makeMask)
    }

    /// Whether the peers are clients, whose frames are counted.
    var isServer: Bool { role == .server }

    func append(_ opcode: FrameWriter.Opcode, _ payload: Span<UInt8>, to output: inout [UInt8]) {
        writer.append(opcode, payload, to: &output)
    }

    /// Returns a reader for the first bytes of a message.
    func takeReader() -> FrameReader {
        guard let reader = spareReader else {
            return FrameReader(
                isServer: role == .server, messageByteCountMax: messageByteCountMax, makeMask: makeMask)
        }
        spareReader = nil
        return reader
    }

    /// Keeps a reader that is between messages for the next connection that needs one.
    func recycle(_ reader: FrameReader) { spareReader = reader }

    /// Returns an empty buffer for output.
    func takeOutput() -> [UInt8] {
        guard let taken = spareOutputs.popLast() else { return [] }
        spareOutputByteCount -= taken.capacity
        return taken
    }

    /// Keeps the memory of a buffer whose bytes were sent.
    func recycle(_ output: consuming [UInt8]) {
        let byteCount = output.capacity
        guard byteCount > 0, spareOutputByteCount + byteCount <= Self.spareOutputByteCountMax else { return }
        output.removeAll(keepingCapacity: true)
        spareOutputByteCount += byteCount
        spareOutputs.append(output)
    }
}
