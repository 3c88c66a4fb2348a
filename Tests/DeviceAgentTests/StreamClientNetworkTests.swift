// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushNet
import LoopTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

private final class Listener: StreamClientDelegate {
    var log: [String] = []

    func streamReceived(_ arrivals: [Arrival]) -> Bool { true }
    func streamTold(_ notice: VersionNotice) {}
    func streamOpened() { log.append("opened") }
    func streamEnded(_ failure: ConnectionFailure) { log.append("ended \(failure.text)") }
    func streamRefused(_ reason: String) { log.append("refused") }
}

/// Checks the stream's behavior when the machine sleeps or wakes, and when the network changes.
@Suite(.serialized) struct StreamClientNetworkTests {
    private let server: ScriptedDeviceServer
    private let loop: EventLoop
    private let listener = Listener()

    init() async throws {
        server = try await ScriptedDeviceServer()
        loop = try EventLoop()
    }

    private func client(
        _ form: StreamForm = .auto, _ keepalive: KeepaliveMonitor = KeepaliveMonitor(),
        access: ServerAccess = ServerAccess()
    ) -> StreamClient {
        let session = ServerSession(
            loop: loop, url: server.url, caFile: server.caFile, secret: "s3cret", access: access)
        let client = StreamClient(loop: loop, session: session, form: form, keepalive: keepalive, random: { 0 })
        client.delegate = listener
        return client
    }

    private func pass(_ duration: Duration) async throws {
        var isOver = false
        loop.schedule(after: duration) { isOver = true }
        try await loop.run("a moment passed") { isOver }
    }

    @Test(arguments: [StreamForm.websocket, .events])
    func `a sleep ends the connection, and waking makes another one`(form: StreamForm) async throws {
        let client = client(form)
        client.start()
        try await loop.run("it is open") { client.isOpen }
        client.sleep()
        #expect(listener.log == ["opened", "ended the machine was suspended"] && !client.isOpen)
        try await pass(.milliseconds(100))
        #expect(server.requests("GET /v1/stream").count == 1, "nothing is tried in between")
        client.wake()
        try await loop.run("it is open again") { client.isOpen }
        #expect(listener.log.count == 3 && server.requests("GET /v1/stream").count == 2)
        client.stop()
    }

    @Test func `the server is notified of a sleep before it begins`() async throws {
        let client = client(.websocket)
        client.start()
        try await loop.run("it is open") { client.isOpen }
        client.sleep()
        try await eventually("it heard the close frame") { server.requests("closed 1001").count == 1 }
    }

    @Test func `waking from a sleep without notice replaces the open connection`() async throws {
        let client = client()
        client.start()
        try await loop.run("it is open") { client.isOpen }
        client.wake()
        #expect(!client.isOpen && listener.log == ["opened", "ended the machine was suspended"])
        try await loop.run("it is open again") { client.isOpen }
        client.stop()
    }

    @Test func `waking does not shorten a pause that the server requested`() async throws {
        let client = client()
        client.start()
        try await loop.run("it is open") { client.isOpen }
        try await server.push(event: "goodbye", id: nil, data: #"{"reason":"shutdown","retry_after":600}"#)
        try await server.endStreams()
        try await loop.run("it ended") { !client.isOpen }
        client.sleep()
        client.wake()
        client.networkChanged()
        try await pass(.milliseconds(200))
        #expect(server.requests("GET /v1/stream").count == 1)
        client.stop()
    }

    @Test func `a network change that keeps the connection's path only probes it`() async throws {
        let client = client(.websocket, KeepaliveMonitor(shortest: .seconds(600), answerTimeout: .milliseconds(300)))
        client.start()
        try await loop.run("it is open") { client.isOpen }
        client.networkChanged()
        try await pass(.milliseconds(600))
        #expect(listener.log == ["opened"])
        try await server.freeze()
        client.networkChanged()
        try await loop.run("its end was noticed") { listener.log.count > 1 }
        #expect(listener.log[1].hasPrefix("ended the server sent nothing"))
        server.thaw()
        client.stop()
    }

    @Test func `a network change ends the wait for a retry`() async throws {
        let session = ServerSession(loop: loop, url: server.url, caFile: server.caFile, secret: "s3cret")
        let client = StreamClient(loop: loop, session: session, random: { 1 })
        client.delegate = listener
        try await server.fail("/v1/stream", status: 503, count: 6)
        client.start()
        for count in 1...6 {
            try await loop.run("it was refused") { listener.log.count == count }
            client.networkChanged()
        }
        let start = ContinuousClock.now
        try await loop.run("it is open") { client.isOpen }
        // The sixth wait would have been half a minute.
        #expect(ContinuousClock.now - start < .seconds(20) * Patience.factor)
        client.stop()
    }

    @Test func `an acknowledgement without an answer means a broken connection`() async throws {
        let client = client(.websocket, KeepaliveMonitor(shortest: .seconds(600), answerTimeout: .milliseconds(300)))
        client.start()
        try await loop.run("it is open") { client.isOpen }
        try await server.freeze()
        var failure: String?
        let isSent = client.acknowledge([.init(id: 1, outcome: .shown)]) { result in
            if case .failure(let error) = result { failure = error.message }
        }
        #expect(isSent)
        try await loop.run("its end was noticed") { listener.log.count > 1 && failure != nil }
        server.thaw()
        client.stop()
    }

    @Test func `a relay that goes silent without notice is detected, and the next connection bypasses it`() async throws
    {
        let proxy = try await ScriptedProxy()
        var access = ServerAccess()
        access.proxy = proxy.url
        let client = client(
            .websocket, KeepaliveMonitor(shortest: .milliseconds(400), answerTimeout: .milliseconds(800)),
            access: access)
        client.start()
        try await loop.run("it is open") { client.isOpen }
        try await proxy.fallSilent()
        try await loop.run("the silence was noticed") {
            listener.log.contains { $0.contains("the server sent nothing") }
        }
        try await loop.run("it is open again") { listener.log.last == "opened" && client.isOpen }
        client.stop()
    }

    @Test(arguments: [StreamForm.websocket, .events])
    func `a goodbye message gives the reason and the pause before the next attempt`(form: StreamForm) async throws {
        let client = client(form)
        client.start()
        try await loop.run("it is open") { client.isOpen }
        let start = ContinuousClock.now
        try await server.push(event: "goodbye", id: nil, data: #"{"reason":"shutdown","retry_after":1}"#)
        try await server.endStreams()
        try await loop.run("it is open again") { listener.log.count == 3 && client.isOpen }
        #expect(listener.log[1] == "ended the server ended the stream: shutdown")
        #expect(ContinuousClock.now - start >= .seconds(1))
        client.stop()
    }

    @Test(arguments: [StreamForm.websocket, .events], [429, 503])
    func `a client waits as long as the server that refused it requests`(form: StreamForm, status: Int) async throws {
        try await server.fail("/v1/stream", status: status, retryAfter: "1")
        let client = client(form)
        let start = ContinuousClock.now
        client.start()
        try await loop.run("it is open") { client.isOpen }
        #expect(listener.log.count == 2 && listener.log[0].contains("answered \(status)"))
        #expect(ContinuousClock.now - start >= .seconds(1))
        client.stop()
    }
}
