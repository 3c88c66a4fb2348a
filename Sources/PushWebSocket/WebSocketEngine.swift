// SPDX-License-Identifier: Apache-2.0

/// Makes masks that nobody can guess who knows the messages.
///
/// - SeeAlso: RFC 6455, section 10.3
package typealias MaskSource = () -> UInt32

/// What all WebSocket connections of one thread share, so that an idle one costs next to nothing.
///
/// wslay's contexts are large: one that writes serves all connections, one that reads goes with a connection while it is
/// inside a message.
package final class WebSocketEngine {
    /// At which end of its connections a program is.
    package enum Role: Sendable {
        /// Takes masked frames and sends plain ones.
        case server
        /// Takes plain frames and masks its own.
        case client
    }

    private let role: Role
    private let messageByteCountMax: Int
    private let makeMask: MaskSource
    private let writer: FrameWriter
    private var spareReader: FrameReader?
    /// As many as the connections that have output in one turn of their thread, within a bound.
    private var spareOutputs: [[UInt8]] = []
    private var spareOutputByteCount = 0
    /// What is beyond it is given back to the system.
    private static let spareOutputByteCountMax = 64 * 1024

    /// Makes what is shared.
    ///
    /// - Parameters:
    ///   - role: Of every connection.
    ///   - messageByteCountMax: The longest message that is taken.
    ///   - makeMask: The source of masks; only a client's is asked.
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

    /// A reader for the first bytes of a message.
    func takeReader() -> FrameReader {
        guard let reader = spareReader else {
            return FrameReader(
                isServer: role == .server, messageByteCountMax: messageByteCountMax, makeMask: makeMask)
        }
        spareReader = nil
        return reader
    }

    /// Keeps a reader that is between messages for the next connection that needs one.
    func giveBack(_ reader: FrameReader) { spareReader = reader }

    /// An empty buffer for output.
    func takeOutput() -> [UInt8] {
        guard let taken = spareOutputs.popLast() else { return [] }
        spareOutputByteCount -= taken.capacity
        return taken
    }

    /// Keeps the memory of a buffer whose bytes are out.
    func giveBack(_ output: consuming [UInt8]) {
        let byteCount = output.capacity
        guard byteCount > 0, spareOutputByteCount + byteCount <= Self.spareOutputByteCountMax else { return }
        output.removeAll(keepingCapacity: true)
        spareOutputByteCount += byteCount
        spareOutputs.append(output)
    }
}
