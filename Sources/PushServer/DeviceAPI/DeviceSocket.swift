// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushStore
internal import PushWebSocket

/// A device's stream over WebSocket; takes the place of the HTTP session on its connection.
///
/// What the device acknowledges comes back on it, and goes to the store with everything else of the loop's turn.
final class DeviceSocket: DeviceStream, HTTPSession, WebSocketDelegate {
    static let name = "websocket"
    private let socket: WebSocketConnection
    private let device: DeviceID
    private let address: ReplyAddress
    // Until the connection closes its session, which it does before it goes.
    private let connection: ServerConnection
    private let streams: DeviceStreams
    /// Acknowledgements, and messages, that the device may send for what it got here; what goes beyond that is taken from the
    /// rate of the device, which outlives the connection.
    private var acknowledgementAllowance = 0
    private var isClosed = false

    var nowNanoseconds: UInt64 = 0 {
        didSet { socket.nowNanoseconds = nowNanoseconds }
    }
    /// Not looked at: messages and output have bounds of their own.
    var retainedByteCountMax = Limits.retainedByteCountMax
    var retainedByteCount: Int { socket.retainedByteCount }

    /// Begins with the head of the answer 101.
    init(
        _ device: DeviceID, _ address: ReplyAddress, on connection: ServerConnection, streams: DeviceStreams,
        handshake: [UInt8]
    ) {
        self.device = device
        self.address = address
        self.connection = connection
        self.streams = streams
        socket = WebSocketConnection(engine: streams.engine, handshake: handshake)
    }

    // MARK: To the device

    func send(_ notifications: [PendingNotification]) {
        for notification in notifications {
            streams.withMessage(notification) { message in socket.send(text: message) }
        }
        let (sum, isOverflow) = acknowledgementAllowance.addingReportingOverflow(
            notifications.count * Limits.acknowledgementsPerNotification)
        if !isOverflow { acknowledgementAllowance = sum }
        outputGrew()
    }

    func sendHeartbeat() {
        guard socket.unansweredPingCount == 0 else { return connection.close("the device does not answer a ping") }
        socket.ping()
        outputGrew()
    }

    func tell(_ notice: PolicyNotice) {
        streams.withScratch { scratch in
            StreamMessage.append(notice, to: &scratch)
            socket.send(text: scratch.span)
        }
        outputGrew()
    }

    func end(_ goodbye: StreamGoodbye) {
        streams.withScratch { scratch in
            StreamMessage.append(goodbye, to: &scratch)
            socket.send(text: scratch.span)
        }
        socket.close(.goingAway, reason: goodbye.reason)
        outputGrew()
    }

    private func outputGrew() {
        guard socket.outputByteCount <= Limits.outputByteCountMax else {
            return connection.close(DeviceStreams.unreadReason)
        }
        connection.needsFlush()
    }

    // MARK: From the device

    func received(text: Span<UInt8>) {
        let acknowledgements: [DeviceAPI.Acknowledgement]
        do throws(StreamMessageError) { acknowledgements = try StreamMessage.fromDevice(text) } catch {
            return socket.close(error.closeCode, reason: error.advice)
        }
        // A message without acknowledgements costs as much as one with one.
        let count = max(1, acknowledgements.count)
        let granted = min(count, acknowledgementAllowance)
        guard granted == count || streams.takeAcknowledgements(count - granted, of: device) else {
            return socket.close(.policyViolation, reason: "more acks than notifications: wait, then send the rest")
        }
        acknowledgementAllowance -= granted
        if !acknowledgements.isEmpty { streams.acknowledge(acknowledgements, by: device) }
    }

    /// That it came is enough.
    func received(pong: Span<UInt8>) {}

    // MARK: The session of its connection

    func receive(_ bytes: Span<UInt8>) -> Bool {
        socket.receive(bytes, for: self)
        return failure == nil
    }

    func collectOutput(into output: inout [UInt8], limit: Int) { socket.collectOutput(into: &output, limit: limit) }

    /// The request that began it, and its frames.
    var completedMessageCount: UInt64 { 1 + socket.frameCount }
    var hasOutput: Bool { !isClosed && socket.outputByteCount > 0 }
    var isFinished: Bool { isClosed || (socket.closure != nil && socket.outputByteCount == 0) }
    /// Nothing of a message has come, and all that was written was taken.
    var isQuiet: Bool { !isFinished && !socket.isInsideMessage && socket.outputByteCount == 0 }
    var awaitsRest: Bool { socket.isInsideMessage }
    /// The stream itself, which keeps the connection from being idle.
    var openExchangeCount: Int { isFinished ? 0 : 1 }
    var openExchanges: [HTTPExchange] { [] }
    func exchange(_ id: Int32) -> HTTPExchange? { nil }
    /// Does nothing: `DeviceStreams` ends the streams of a server that stops.
    func announceShutdown(debugData: [UInt8]) {}
    func finishShutdown(debugData: [UInt8]) { socket.close(.goingAway, reason: "shutdown") }
    /// Does nothing: there is one stream.
    func advertiseStreams(_ count: Int) {}
    /// Does nothing: heartbeats come from `DeviceStreams`.
    func tick() {}
    func ping() { socket.ping() }
    var unansweredPingCount: Int { socket.unansweredPingCount }

    /// A device that did wrong; one that said goodbye did not.
    var failure: String? {
        guard let closure = socket.closure, !closure.isByPeer, closure.code != .goingAway else { return nil }
        return closure.reason
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        streams.streamEnded(address)
    }
}

extension StreamMessageError {
    /// What the close frame says beside `advice`.
    fileprivate var closeCode: WebSocketCloseCode {
        switch self {
        case .notJSON: .invalidPayload
        case .unknownKind, .malformedAcknowledgement: .policyViolation
        case .tooManyAcknowledgements: .messageTooBig
        }
    }
}
