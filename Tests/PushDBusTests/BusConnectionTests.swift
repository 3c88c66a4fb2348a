// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import PushDBus
import TestSupport
import Testing

struct BusConnectionTests {
    @Test func `a missing bus is an error that says what to do`() {
        let error = #expect(throws: BusError.self) {
            try BusConnection(.address("unix:path=/nonexistent/posthorn/bus"))
        }
        #expect(error?.message.contains("Check that a message bus listens at unix:path=/nonexistent") == true)
    }

    @Test func `a missing session bus advises to run inside a session`() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/posthorn/bus", 1)
            let error = #expect(throws: BusError.self) { try BusConnection(.session) }
            #expect(error?.message.contains("dbus-run-session") == true)
        }
    }

    @Test(arguments: ["", "nonsense", "unix:", "tcp:host=,port=0"])
    func `a malformed address is an error`(address: String) {
        #expect(throws: BusError.self) { try BusConnection(.address(address)) }
    }

    @Test func `the first to request a name owns it, and a second request by the owner succeeds`() async throws {
        let bus = try await TestBus()
        #expect(try bus.server.requestName("org.posthorn.Name"))
        #expect(try bus.server.requestName("org.posthorn.Name"))
        #expect(try !bus.client.requestName("org.posthorn.Name"))
        #expect(throws: BusError.self) { try bus.client.requestName("not a name") }
    }

    @Test func `a lost bus fails each pending call once, and then the connection`() async throws {
        let bus = try await TestBus()
        var answers: [Result<[BusValue], BusError>] = []
        bus.client.send(bus.server.uniqueName, TestBus.path, TestBus.interface, "Echo") { answers.append($0) }
        try await bus.bus.stop()
        try await eventually("process says that the bus is gone") {
            do { try bus.client.process() } catch { return true }
            return false
        }
        #expect(answers.count == 1)
        #expect(failure(of: answers.first) != nil)
        var late: Result<[BusValue], BusError>?
        bus.client.send(bus.server.uniqueName, TestBus.path, TestBus.interface, "Echo") { late = $0 }
        #expect(bus.client.timeout == .zero)
        #expect(late == nil)
        try? bus.client.process()
        #expect(failure(of: late) != nil)
    }

    @Test func `an idle connection waits for input only and needs no timer`() async throws {
        let bus = try await TestBus()
        try bus.client.process()
        #expect(bus.client.wantedEvents == (true, false))
        #expect(bus.client.timeout == nil)
        #expect(bus.client.descriptor >= 0)
    }

    @Test func `a pending call needs a timer no later than its deadline`() async throws {
        let bus = try await TestBus()
        var activityCount = 0
        bus.client.activityHandler = { activityCount += 1 }
        bus.client.send(
            bus.server.uniqueName, TestBus.path, TestBus.interface, "Echo", timeout: .seconds(20)
        ) { _ in }
        #expect(activityCount == 1)
        let timeout = try #require(bus.client.timeout)
        #expect(timeout > .zero && timeout <= .seconds(20))
    }

    @Test func `calling process inside a handler does nothing`() async throws {
        let bus = try await TestBus()
        try bus.serve { [unowned server = bus.server] _ in
            Result { () throws(BusError) in
                try server.process()
                return [.string("calm")]
            }
        }
        #expect(try bus.call("Echo").get() == [.string("calm")])
    }
}
