// SPDX-License-Identifier: Apache-2.0

@testable import LinuxDesktop
import PushDBus
import PushNet
import LoopTestSupport
import TestSupport

/// One side of a private bus: a loop, and a connection that it drives.
final class BusSession {
    let bus: DesktopBus
    let loop: EventLoop
    let connection: BusConnection
    let driver: BusDriver

    init(_ bus: DesktopBus) throws {
        self.bus = bus
        loop = try EventLoop()
        connection = try BusConnection(.address(bus.address))
        driver = try BusDriver(loop: loop, connection: connection)
    }

    /// Runs the loop until a condition holds.
    ///
    /// Does not suspend unless the condition does, because both ends of an exchange run on this task. While the task is
    /// suspended for other tests, a deadline of one end could pass.
    ///
    /// - Parameters:
    ///   - what: The condition in words.
    ///   - condition: Returns whether the condition holds.
    /// - Throws: `NeverHappened` when the deadline passes, or the condition's error.
    func run(until what: String, _ condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + Patience.usual * Patience.factor
        while true {
            loop.schedule(after: .milliseconds(5)) { [loop] in loop.stop() }
            loop.run()
            if try await condition() { return }
            guard ContinuousClock.now < deadline else { throw NeverHappened(what: what) }
        }
    }
}

/// The log that the tested types get.
let testLog = EventLog(threshold: .info, isJournal: false)
