// SPDX-License-Identifier: Apache-2.0

import AgentBus
import PushAPI
import PushCore
import PushNet
import LoopTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

private final class Listener: StreamClientDelegate {
    var arrivals: [Arrival] = []
    var log: [String] = []
    var problems: [ConnectionProblem] = []
    var isWritable = true

    func streamReceived(_ arrivals: [Arrival]) -> Bool {
        guard isWritable else { return false }
        self.arrivals += arrivals
        return true
    }
    func streamTold(_ notice: VersionNotice) {}
    func streamOpened() { log.append("opened") }
    func streamEnded(_ failure: ConnectionFailure) {
        log.append("ended \(failure.text)")
        problems.append(failure.problem)
    }
    func streamRefused(_ reason: String) { log.append("refused") }
}

@Suite(.serialized) struct StreamClientTests {
    private let server: ScriptedDeviceServer
    private let loop: EventLoop
    private let listener = Listener()

    init() async throws {
        server = try await ScriptedDeviceServer()
        loop = try EventLoop()
    }

    private func client(_ form: StreamForm = .auto, _ keepalive: KeepaliveMonitor = KeepaliveMonitor()) -> StreamClient
    {
        let session = ServerSession(loop: loop, url: server.url, caFile: server.caFile, secret: "s3cret")
        let client = StreamClient(
            loop: loop, session: session, form: form, keepalive: keepalive, random: { 0 })
        client.delegate = listener
        return client
    }

    @Test(arguments: [StreamForm.websocket, .events])
    func `a silent connection is abandoned, and a new one is made`(form: StreamForm) async throws {
        let client = client(form, KeepaliveMonitor(shortest: .milliseconds(300), answerTimeout: .milliseconds(500)))
        client.start()
        try await loop.run("it is open") { client.isOpen }
        try await server.freeze()
        try await loop.run("the silence was noticed") {
            listener.log.contains { $0.contains("the server sent nothing") }
        }
        server.thaw()
        try await loop.run("it is open again") { listener.log.filter { $0 == "opened" }.count > 1 && client.isOpen }
        client.stop()
    }

    @Test(arguments: [StreamForm.websocket, .events])
    func `a server of another authority gets no request, and no retry soon`(form: StreamForm) async throws {
        let other = try await ScriptedDeviceServer()
        let session = ServerSession(loop: loop, url: server.url, caFile: other.caFile, secret: "s3cret")
        let client = StreamClient(loop: loop, session: session, form: form, random: { 0 })
        client.delegate = listener
        client.start()
        try await loop.run("it was given up") { !listener.log.isEmpty }
        #expect(listener.problems == [.wrongServer], "\(listener.log)")
        let due = try #require(client.connectsAt)
        #expect(due.duration(since: loop.now) > .seconds(400))
        client.networkChanged()
        try await loop.run("another network is tried at once") { listener.log.count == 2 }
        #expect(server.requests.isEmpty)
        client.stop()
    }

    @Test(arguments: [StreamForm.websocket, .events])
    func `a certificate of another name is no sign of another server`(form: StreamForm) async throws {
        let url = server.url.replacing("localhost", with: "127.0.0.1")
        let session = ServerSession(loop: loop, url: url, caFile: server.caFile, secret: "s3cret")
        let client = StreamClient(loop: loop, session: session, form: form, random: { 0 })
        client.delegate = listener
        client.start()
        try await loop.run("it was given up") { !listener.log.isEmpty }
        #expect(listener.problems.first == .certificate, "\(listener.log)")
        #expect(server.requests.isEmpty)
        client.stop()
    }

    @Test(arguments: [StreamForm.websocket, .events])
    func `only a silence as long as the limit ends a connection`(form: StreamForm) async throws {
        let silenceMax: Duration = .seconds(1)
        let client = client(form, KeepaliveMonitor(shortest: .milliseconds(500), answerTimeout: .milliseconds(500)))
        client.start()
        try await loop.run("it is open") { client.isOpen }
        let start = ContinuousClock.now
        var last = start
        var longestSilence: Duration = .zero
        while ContinuousClock.now - start < .milliseconds(1500), listener.log == ["opened"] {
            let count = listener.arrivals.count
            try await server.push(count + 1)
            try await loop.run("it came, or the connection ended") {
                listener.arrivals.count > count || listener.log.count > 1
            }
            longestSilence = max(longestSilence, ContinuousClock.now - last)
            last = .now
        }
        // On a machine that stood still for this long, the end is correct.
        #expect(listener.log == ["opened"] || longestSilence >= silenceMax)
        client.stop()
    }

    @Test(arguments: [StreamForm.websocket, .events])
    func `an event that could not be written is dropped and sent again`(form: StreamForm) async throws {
        let client = client(form)
        client.start()
        try await loop.run("it is open") { client.isOpen }
        listener.isWritable = false
        try await server.push(1)
        try await loop.run("it was given up") { listener.log.count > 1 }
        #expect(listener.log[1] == "ended notifications could not be stored")
        listener.isWritable = true
        try await loop.run("it is open again") { client.isOpen }
        client.stop()
    }

    @Test(arguments: [StreamForm.websocket, .events])
    func `an event that is too long ends the stream, and the next one is read`(form: StreamForm) async throws {
        let client = client(form)
        client.start()
        try await loop.run("it is open") { client.isOpen }
        try await server.push(event: "notification", data: String(repeating: "x", count: 70_000))
        try await loop.run("it was given up") {
            listener.log.contains { $0.contains("too long") || $0.contains("too big") }
        }
        try await loop.run("it is open again") { client.isOpen }
        try await server.push(1)
        try await loop.run("the next came") { listener.arrivals.count == 1 }
        client.stop()
    }

    @Test func `an unreadable event is acknowledged with its own ID, never an earlier one`()
        async throws
    {
        let client = client(.events)
        client.start()
        try await loop.run("it is open") { client.isOpen }
        try await server.push(7)
        try await server.push(event: "notification", id: nil, data: "nonsense")
        try await server.push(event: "notification", id: 9, data: "nonsense")
        try await loop.run("the last came") { listener.arrivals.count >= 2 }
        #expect(listener.arrivals.dropFirst() == [.unreadable(sequence: 9)])
        client.stop()
    }

    @Test(arguments: [StreamForm.websocket, .events])
    func `many events in one piece arrive in order`(form: StreamForm) async throws {
        let client = client(form)
        client.start()
        try await loop.run("it is open") { client.isOpen }
        for number in 1...200 { try await server.push(number) }
        try await loop.run("all came") { listener.arrivals.count == 200 }
        let sequences = listener.arrivals.map { arrival -> Int64 in
            guard case .notification(let notification) = arrival else { return 0 }
            return notification.sequence
        }
        #expect(sequences == Array(1...200))
        client.stop()
    }

    @Test func `a server that is gone is retried until the client is stopped`() async throws {
        try await server.kill()
        try await endlessTrying()
    }

    private func endlessTrying() async throws {
        let client = client()
        client.start()
        try await loop.run("it failed three times") { listener.log.count >= 3 }
        client.stop()
        let count = listener.log.count
        var isLater = false
        loop.schedule(after: .milliseconds(50)) { isLater = true }
        try await loop.run("a moment passed") { isLater }
        #expect(listener.log.count == count)
    }

    @Test(arguments: [400, 404, 405, 426, 501])
    func `a server without WebSocket is asked for events immediately, and also next time`(status: Int) async throws {
        try await server.fail("/v1/stream", status: status)
        let client = client()
        client.start()
        try await loop.run("it is open") { client.isOpen }
        #expect(listener.log == ["opened"] && server.requests("GET /v1/stream").count == 2)
        try await server.endStreams()
        try await loop.run("it is open again") { client.isOpen && listener.log.count == 3 }
        #expect(server.requests("GET /v1/stream").count == 3, "no third WebSocket was tried")
        #expect(!client.acknowledge([], completion: { _ in }), "there is no WebSocket to carry them")
        client.stop()
    }

    @Test func `a client that requires WebSocket gets no events`() async throws {
        try await server.fail("/v1/stream", status: 426, count: 2)
        let client = client(.websocket)
        client.start()
        try await loop.run("it is open") { client.isOpen }
        #expect(
            listener.log.count == 3
                && listener.log[0].contains("the WebSocket connection failed: the server answered 426"))
        client.stop()
    }

    @Test(arguments: [401, 503])
    func `a refusal unrelated to WebSocket is a refusal`(status: Int) async throws {
        try await server.fail("/v1/stream", status: status)
        let client = client()
        client.start()
        try await loop.run("it was refused") { !listener.log.isEmpty }
        let unavailable = "ended the server answered 503 to the request for the stream"
        #expect(listener.log[0] == (status == 401 ? "refused" : unavailable))
        if status == 503 { try await loop.run("it is open") { client.isOpen } }
        client.stop()
    }

    @Test func `acknowledgements are confirmed by the server, or else have failed`() async throws {
        let client = client(.websocket)
        client.start()
        try await loop.run("it is open") { client.isOpen }
        var results: [String] = []
        let send: (Int64) -> Bool = { id in
            client.acknowledge([.init(id: id, outcome: .suppressed, reason: "master-off")]) { result in
                switch result {
                case .success: results.append("\(id) confirmed")
                case .failure(let error): results.append("\(id) \(error.message)")
                }
            }
        }
        #expect(send(7))
        #expect(!send(8), "one batch at a time")
        try await loop.run("it is confirmed") { results == ["7 confirmed"] }
        #expect(
            server.requests("POST /v1/acks").last
                == #"POST /v1/acks {"acks":[{"id":7,"outcome":"suppressed","reason":"master-off"}]}"#)
        try await server.fail("/v1/acks", status: 503)
        #expect(send(9))
        try await loop.run("the stream ended") { results.count == 2 && listener.log.count > 1 }
        #expect(results[1].contains("the stream ended"))
        try await loop.run("it is open again") { client.isOpen }
        try await server.fail("/v1/acks", status: 400)
        #expect(send(10))
        try await loop.run("they were refused") { results.count == 3 }
        #expect(results[2].contains("1008"))
        client.stop()
    }
}
