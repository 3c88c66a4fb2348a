// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushWebSocket

/// A device's stream over WebSocket, which replaces the HTTP session of its connection.
///
/// The device's acknowledgements arrive on it, and go to the store with all other commands of the loop's turn.
final class DeviceSocket: DeviceEventWriter, WebSocketSession {
    static let name = "websocket"
    let socket: WebSocketConnection
    let device: DeviceID
    /// The interval of the heartbeats.
    let heartbeatSeconds: Int64
    let address: ReplyAddress
    // A reference cycle until the connection closes its session, which it does before it is removed.
    private let connection: ServerConnection
    private let streams: DeviceStreams
    /// The number of acknowledgements and messages that the device may send for the notifications of this connection.
    ///
    /// Any more are taken from the rate of the device, which outlives the connection.
    private var acknowledgementAllowance = 0
    private(set) var isClosed = false

    /// Ignored, because messages and output have limits of their own.
    var retainedByteCountMax = Limits.retainedByteCountMax
    var connectedAt: MonotonicTime { connection.beganAt }

    /// Creates a stream that first sends the head of the response 101.
    init(
        _ device: DeviceID, _ address: ReplyAddress, on connection: ServerConnection, streams: DeviceStreams,
        heartbeatSeconds: Int64, handshake: [UInt8]
    ) {
        self.device = device
        self.heartbeatSeconds = heartbeatSeconds
        self.address = address
        self.connection = connection
        self.streams = streams
        socket = WebSocketConnection(engine: streams.engine, handshake: handshake)
    }

    // MARK: To the device

    func send(_ notifications: [PendingNotification]) {
        for notification in notifications {
            if let message = streams.broadcastMessage(of: notification) {
                socket.send(text: message.span)
            } else {
                socket.sendText(byteCountMax: StreamMessage.byteCountMax(of: notification)) {
                    StreamMessage.append(notification, to: &$0)
                }
            }
        }
        let (sum, isOverflow) = acknowledgementAllowance.addingReportingOverflow(
            notifications.count * Limits.acknowledgementsPerNotification)
        if !isOverflow { acknowledgementAllowance = sum }
        if outputFits() { connection.loop.flushDelivery(connection) }
    }

    func sendHeartbeat() {
        guard socket.unansweredPingCount == 0 else {
            streams.engine.metrics.note(.silence)
            return connection.close("the device does not answer a ping")
        }
        socket.ping()
        outputGrew()
    }

    func tell(_ notice: VersionNotice) {
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
        if outputFits() { connection.needsFlush() }
    }

    /// Closes the connection if the device does not read; returns whether it does.
    private func outputFits() -> Bool {
        guard socket.outputByteCount > Limits.outputByteCountMax else { return true }
        streams.engine.metrics.note(.unread)
        connection.close(DeviceStreams.unreadReason)
        return false
    }

    // MARK: From the device

    func received(text: Span<UInt8>) {
        let acknowledgements: [DeviceAPI.Acknowledgement]
        do throws(StreamMessageError) { acknowledgements = try StreamMessage.fromDevice(text) } catch {
            streams.engine.metrics.note(error.failure)
            return socket.close(error.closeCode, reason: error.advice)
        }
        // A message without acknowledgements costs as much as one with a single acknowledgement.
        let count = max(1, acknowledgements.count)
        let granted = min(count, acknowledgementAllowance)
        guard granted == count || streams.takeAcknowledgements(count - granted, of: device) else {
            streams.engine.metrics.note(.acknowledgements)
            return socket.close(.policyViolation, reason: "too many acknowledgements: wait, then send the rest")
        }
        acknowledgementAllowance -= granted
        if !acknowledgements.isEmpty { streams.acknowledge(acknowledgements, by: device) }
    }

    // MARK: The session of its connection

    func collectOutput(into output: inout [UInt8], limit: Int) { socket.collectOutput(into: &output, limit: limit) }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        streams.streamEnded(address)
    }
}

extension StreamMessageError {
    /// The close code that accompanies `advice`.
    fileprivate var closeCode: WebSocketCloseCode {
        switch self {
        case .notJSON: .invalidPayload
        case .unknownKind, .malformedAcknowledgement: .policyViolation
        case .tooManyAcknowledgements: .messageTooBig
        }
    }

    /// The cause in metrics.
    fileprivate var failure: WebSocketMetrics.Failure {
        switch self {
        case .notJSON, .unknownKind, .malformedAcknowledgement: .message
        case .tooManyAcknowledgements: .acknowledgements
        }
    }
}
