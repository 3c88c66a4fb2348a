// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushTLS

/// The socket of a connection, with its transport, its registration at the loop, and the output that it did not accept
/// yet.
struct ConnectionSocket: ~Copyable {
    /// The transport, which is plain until a TLS handshake has ended.
    var transport = Transport.plain
    private(set) var pending = PendingOutput()
    private let descriptor: FileDescriptor
    private var registration: Registration?
    private var interest: Readiness = .readable

    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    var rawValue: Int32 { descriptor.rawValue }

    /// Whether the waiting output has reached the size at which reading stops.
    var isFull: Bool { pending.count >= Limits.outputByteCountHigh }

    /// The user of the process at the other end of a UNIX socket; nil if the kernel does not know it.
    var peerUserID: UInt32? { (try? Sockets.peerCredentials(descriptor.rawValue))?.user }

    /// Whether the loop watches for input.
    var isWatchedForInput: Bool { interest.contains(.readable) }

    // MARK: Events

    /// Starts to watch for input.
    mutating func register(at events: EventLoop, handler: any EventHandler) throws(NetError) {
        registration = try events.register(descriptor.rawValue, for: interest, handler: handler)
    }

    /// Sets the events to watch for; does nothing after `deregister`.
    mutating func watch(_ wanted: Readiness, at events: EventLoop) throws(NetError) {
        guard wanted != interest, let registration else { return }
        interest = wanted
        try events.modify(registration, for: wanted)
    }

    /// Stops to watch for events.
    mutating func deregister(from events: EventLoop) {
        if let registration { events.deregister(registration) }
        // A later change of interest must not find a registration.
        registration = nil
    }

    /// Reads and discards input without the transport; returns whether the input has ended.
    func dropInput(using buffer: UnsafeMutableRawBufferPointer) throws(ServingError) -> Bool {
        let count = try ServingError.wrapping { () throws(NetError) in
            try unsafe Sockets.read(descriptor.rawValue, into: buffer)
        }
        return count == 0
    }

    // MARK: Output

    /// Writes output, and keeps what the socket does not accept; nothing may be pending.
    ///
    /// - Parameter bytes: The output.
    /// - Returns: The number of accepted bytes.
    /// - Throws: The error of the socket or of TLS.
    mutating func send(_ bytes: [UInt8]) throws(ServingError) -> Int {
        let count = try write(bytes, from: 0)
        if count < bytes.count { pending.keep(bytes[count...]) }
        return count
    }

    /// Writes output left over from earlier; returns the number of accepted bytes.
    mutating func sendPending() throws(ServingError) -> Int {
        guard !pending.isEmpty else { return 0 }
        let count = try write(pending.bytes, from: pending.offset)
        pending.wrote(count)
        return count
    }

    private func write(_ bytes: [UInt8], from start: Int) throws(ServingError) -> Int {
        var offset = start
        while offset < bytes.count {
            switch try transport.write(descriptor.rawValue, bytes, from: offset) {
            case .bytes(let count): offset += count
            case .mustWait, .mustWrite: return offset - start
            case .closed: throw .tls(.peer("closed while output was waiting"))
            }
        }
        return offset - start
    }
}
