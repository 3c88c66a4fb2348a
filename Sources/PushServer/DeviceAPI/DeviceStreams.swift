// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushStore

/// The devices' streams (`GET /v1/stream`) of one loop.
///
/// ```
/// opening ──attached──▶ open ──ended by the store, or shutdown──▶ (goodbye) gone
///    │                    └───────connection lost───────────────▶ gone, store told
///    └──refused by the store──▶ gone
/// ```
final class DeviceStreams {
    private struct Stream {
        var device: DeviceID?
        /// When the last bytes were sent, for the heartbeat.
        var sentNanoseconds: UInt64
    }

    /// When a device comes back after a restart; the agent adds a random part.
    private static let shutdownRetrySeconds = 1

    private unowned let loop: ServerLoop
    private var streams: [ReplyAddress: Stream] = [:]
    private var scratch: [UInt8] = []

    init(loop: ServerLoop) { self.loop = loop }

    /// Asks the store to attach the device; the answer begins when it has.
    func open(_ exchange: HTTPExchange, on connection: ServerConnection, secretHash: [UInt8]) {
        guard !loop.isShuttingDown else {
            return ControlAnswer.refuse(exchange, .unavailable("shutting down"))
        }
        let address = connection.address(of: exchange)
        connection.carriesStream = true
        streams[address] = Stream(device: nil, sentNanoseconds: loop.events.monotonicNanoseconds)
        exchange.context = PendingCall { [unowned self] result, exchange in
            guard case .failure(let refusal) = result else { return }
            self.streams[address] = nil
            ControlAnswer.refuse(exchange, refusal)
        }
        loop.submit(.attach(secretHash: secretHash, stream: address))
    }

    func attached(_ device: DeviceID, _ address: ReplyAddress) {
        if address.slot == BuiltInDevices.slot { return loop.builtInDevices?.attached() ?? () }
        var isRefused = false
        loop.answering(address) { exchange, _ in isRefused = exchange.isAnswered }
        guard streams[address] != nil, !isRefused else { return loop.submit(.detach(stream: address)) }
        streams[address]?.device = device
        loop.context.log.info("device_connected", ["device": device.text])
        loop.answering(address) { exchange, _ in
            exchange.context = nil
            exchange.addField("content-type", "text/event-stream")
            exchange.addField("cache-control", "no-store")
            exchange.beginStream(status: 200)
        }
        send(to: address) { EventStream.appendComment(to: &$0) }
    }

    func deliver(_ notifications: [PendingNotification], to address: ReplyAddress) {
        guard address.slot != BuiltInDevices.slot else {
            loop.builtInDevices?.deliver(notifications, to: address)
            return
        }
        send(to: address) { output in
            for notification in notifications { NotificationEvent.append(notification, to: &output) }
        }
    }

    /// The store ended the stream: another took over, or the device is gone.
    func ended(_ end: StreamEnd, _ address: ReplyAddress) {
        if address.slot == BuiltInDevices.slot { return loop.builtInDevices?.ended(address) ?? () }
        guard streams[address] != nil else { return }
        say(goodbye: end.rawValue, retryAfterSeconds: end.retryAfterSeconds, to: address)
    }

    /// The exchange is over, whoever ended it.
    func exchangeEnded(_ address: ReplyAddress) {
        guard let stream = streams.removeValue(forKey: address) else { return }
        if let device = stream.device { loop.context.log.info("device_disconnected", ["device": device.text]) }
        loop.submit(.detach(stream: address))
    }

    /// Sends a heartbeat where nothing was sent for a while, and drops devices that do not read.
    func tick() {
        let now = loop.events.monotonicNanoseconds
        let interval = UInt64(Limits.heartbeatInterval / .nanoseconds(1))
        for (address, stream) in streams where stream.device != nil && now - stream.sentNanoseconds >= interval {
            send(to: address) { EventStream.appendComment(to: &$0) }
        }
    }

    /// Says goodbye to every device, so that it comes back soon and not all at once.
    func endAll() {
        for address in streams.keys {
            say(goodbye: "shutdown", retryAfterSeconds: Self.shutdownRetrySeconds, to: address)
        }
    }

    private func say(goodbye reason: String, retryAfterSeconds: Int, to address: ReplyAddress) {
        let data = Array("{\"reason\":\"\(reason)\",\"retry_after\":\(retryAfterSeconds)}".utf8)
        send(to: address) { EventStream.appendEvent(name: "goodbye", data: data.span, to: &$0) }
        loop.answering(address) { exchange, _ in
            if exchange.isAnswered {
                exchange.endStream()
            } else {
                ControlAnswer.refuse(exchange, .unavailable(reason))
            }
        }
    }

    private func send(to address: ReplyAddress, _ append: (inout [UInt8]) -> Void) {
        guard streams[address]?.device != nil else { return }
        streams[address]?.sentNanoseconds = loop.events.monotonicNanoseconds
        scratch.removeAll(keepingCapacity: true)
        append(&scratch)
        loop.answering(address) { exchange, connection in
            let bytes = scratch
            // What is not taken stays pending in the store and comes again on the next stream.
            guard exchange.unsentByteCount + bytes.count <= Limits.outputByteCountMax else {
                return connection.close("the device does not read its stream")
            }
            exchange.send(bytes.span)
        }
    }
}

extension StreamEnd {
    /// When it makes sense to try again.
    fileprivate var retryAfterSeconds: Int {
        switch self {
        case .replaced: 60
        case .removed: 3600
        }
    }
}
