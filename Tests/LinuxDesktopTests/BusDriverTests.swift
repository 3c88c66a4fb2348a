// SPDX-License-Identifier: Apache-2.0

@testable import LinuxDesktop
import PushDBus
import PushNet
import TestSupport
import Testing

struct BusDriverTests {
    @Test func `answers and signals arrive while only the loop runs`() async throws {
        let session = try BusSession(await DesktopBus())
        let other = try BusConnection(.address(session.bus.address))
        var signalCount = 0
        try session.connection.subscribe(sender: nil, path: nil, interface: "a.b", member: "C") { _ in signalCount += 1
        }
        // This exceeds one turn's limit, so the rest must arrive without another event on the descriptor.
        for _ in 0..<600 { try other.emit("/", "a.b", "C", []) }
        var answer: Result<[BusValue], BusError>?
        session.connection.send("org.posthorn.Nobody", "/", "a.b", "C") { answer = $0 }
        try await session.run(until: "all arrived") { signalCount == 600 && answer != nil }
        #expect(throws: BusError.self) { try answer?.get() }
    }

    @Test func `an unanswered call times out while only the loop runs`() async throws {
        let session = try BusSession(await DesktopBus())
        let silent = try BusConnection(.address(session.bus.address))
        var answer: Result<[BusValue], BusError>?
        session.connection.send(silent.uniqueName, "/", "a.b", "C", timeout: .milliseconds(50)) { answer = $0 }
        try await session.run(until: "the call times out") { answer != nil }
        #expect(throws: BusError.self) { try answer?.get() }
    }

    @Test func `a lost bus is reported once, and the loop continues`() async throws {
        let session = try BusSession(await DesktopBus())
        var losses: [BusError] = []
        session.driver.connectionLost = { losses.append($0) }
        try await session.bus.stop()
        try await session.run(until: "the loss is reported") { !losses.isEmpty }
        var answer: Result<[BusValue], BusError>?
        session.connection.send("org.posthorn.Nobody", "/", "a.b", "C") { answer = $0 }
        var turnCount = 0
        try await session.run(until: "the loop made some turns") {
            turnCount += 1
            return turnCount == 3
        }
        #expect(losses.count == 1)
        #expect(answer == nil, "nothing drives the connection any more")
    }

    @Test func `a released driver stops watching`() async throws {
        let bus = try await DesktopBus()
        let loop = try EventLoop()
        let connection = try BusConnection(.address(bus.address))
        var driver: BusDriver? = try BusDriver(loop: loop, connection: connection)
        weak let gone = driver
        driver = nil
        #expect(gone == nil && driver == nil)
        // A descriptor can be watched once, so this fails while the driver still watches it.
        let again = try BusDriver(loop: loop, connection: connection)
        again.stop()
        again.stop()
    }
}
