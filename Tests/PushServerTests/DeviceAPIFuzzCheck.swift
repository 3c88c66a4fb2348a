// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushHTTP
@testable import PushServer
import PushStore
import PushWebSocket

/// The invariants for any bytes that a device sends over HTTP/1.1.
///
/// FuzzTesting compiles this file too.
///
/// Requests go through the session. Their contents go through the code that reads them for the device API: secrets,
/// paths, bodies, WebSocket handshakes and messages. Loops, sockets and the store are left out and covered by
/// `MonkeyTests`.
enum DeviceAPIFuzzCheck {
    /// Checks that the bytes have the same effect whole and split in two.
    ///
    /// - Parameter input: The bytes, of which the first one selects the split.
    /// - Returns: The violation, or nil.
    @Sendable static func requests(_ input: [UInt8]) -> String? {
        let stream = Array(input.dropFirst())
        let place = min(Int(input.first ?? 0), stream.count)
        let whole = FuzzedDeviceAPI([stream])
        let parts = FuzzedDeviceAPI([Array(stream[..<place]), Array(stream[place...])])
        if let problem = whole.problem ?? parts.problem { return problem }
        return whole.handled == parts.handled ? nil : "Cut at \(place) the requests are others."
    }
}

/// The device API without a loop and a store.
///
/// It validates as much as it can, and answers 204 where a store would act.
private final class FuzzedDeviceAPI: HTTPSessionDelegate, WebSocketDelegate {
    /// The first violation that was found.
    private(set) var problem: String?
    /// The path and status of each delivered request, and the messages of a WebSocket.
    private(set) var handled: [String] = []
    private var openCount = 0
    private var session: HTTP1Session?
    private var socket: WebSocketConnection?
    private var wantsUpgrade = false

    init(_ pieces: [[UInt8]]) {
        let limits = HTTPSessionLimits(
            concurrentStreamCountMax: Limits.concurrentStreamCountMax,
            headerListByteCountMax: Limits.headerListByteCountMax,
            advertisedHeaderListByteCountMax: Limits.advertisedHeaderListByteCountMax,
            headerFieldCountMax: Limits.headerFieldCountMax)
        let session = HTTP1Session(limits: limits, delegate: self)
        self.session = session
        for piece in pieces { receive(piece) }
        session.close()
        if openCount != 0 { problem = "An exchange did not end." }
    }

    private func receive(_ bytes: [UInt8]) {
        if let socket { return socket.receive(bytes.span, for: self) }
        guard let session else { return }
        let goesOn = session.receive(bytes.span)
        if wantsUpgrade { upgrade(session) }
        var output: [UInt8] = []
        while session.hasOutput { session.collectOutput(into: &output, limit: 65536) }
        if !goesOn { session.close() }
    }

    /// Switches protocols as a connection does once the store has found the device.
    private func upgrade(_ session: HTTP1Session) {
        wantsUpgrade = false
        guard let (_, input) = session.switchProtocols() else { return }
        let engine = WebSocketEngine(role: .server, messageByteCountMax: Limits.controlBodyByteCountMax) { 1 }
        let socket = WebSocketConnection(engine: engine)
        self.socket = socket
        socket.receive(input.span, for: self)
    }

    // MARK: Requests

    func headTooLarge(_ exchange: HTTPExchange) { exchange.respond(status: 431) }

    func headArrived(_ exchange: HTTPExchange) {
        openCount += 1
        exchange.bodyByteCountMax = Limits.controlBodyByteCountMax
    }

    func requestArrived(_ exchange: HTTPExchange) {
        let path = exchange.fields.text(exchange.path)
        if let credential = DeviceEndpoint.credential(of: exchange) {
            if credential.secretHash.count != 32 { problem = "A hash has another length." }
            handled.append(credential.device?.text ?? "no device ID")
        }
        switch path {
        case "/v1/devices": read(DeviceAPI.Enrolment.self, exchange) { $0.code.map(EnrolmentCode.hash)?.count ?? 32 }
        case "/v1/stream": openStream(exchange)
        case "/v1/filter": read(DeviceAPI.Filter.self, exchange) { $0.refusedTopics.count }
        case "/v1/power": read(DeviceAPI.Power.self, exchange) { $0.saving ? 1 : 0 }
        case "/v1/acks":
            _ = try? StreamMessage.fromDevice(exchange.body.span)
            read(DeviceAPI.Acknowledgements.self, exchange) { $0.acks.count }
        case _ where path.hasPrefix("/v1/apps/"): readChannel(path.dropFirst("/v1/apps/".count), exchange)
        default: DeviceEndpoint.refusePath(exchange)
        }
        handled.append("\(exchange.method) \(path) \(exchange.body.count) \(exchange.bodyOverflowed)")
        if !exchange.isAnswered, !wantsUpgrade { problem = "\(path) has no answer." }
    }

    func exchangeEnded(_ exchange: HTTPExchange) { openCount -= 1 }

    private func read<Body: Decodable>(
        _ type: Body.Type, _ exchange: HTTPExchange, _ measure: (Body) -> Int
    ) {
        guard let body = ControlAnswer.body(type, of: exchange) else { return }
        handled.append("\(measure(body))")
        ControlAnswer.sendNothing(exchange)
    }

    private func openStream(_ exchange: HTTPExchange) {
        switch WebSocketUpgrade.check(exchange.fields, session?.upgradeReadiness ?? .unavailable) {
        case .none: exchange.respond(status: 200)
        case .refuse(let refusal): WebSocketUpgrade.answer(exchange, refusal)
        case .accept(let acceptance):
            WebSocketUpgrade.addFields(to: exchange, acceptance: acceptance)
            wantsUpgrade = true
        }
    }

    private func readChannel(_ path: Substring, _ exchange: HTTPExchange) {
        let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let bytes = parts.count > 2 ? PathSegment.decode(parts[2].utf8.span) : nil
        if let bytes, let channel = ChannelID(text: bytes.span), Array(channel.text.utf8).count != bytes.count {
            problem = "A channel ID of another length is read."
        }
        ControlAnswer.sendNothing(exchange)
    }

    // MARK: Messages

    func received(text: Span<UInt8>) {
        guard let acknowledgements = try? StreamMessage.fromDevice(text) else { return handled.append("no acks") }
        if acknowledgements.count > Limits.acknowledgementBatchCountMax { problem = "There are too many acks." }
        handled.append("\(acknowledgements.count) acks")
    }

    func received(pong: Span<UInt8>) { handled.append("pong") }
}
