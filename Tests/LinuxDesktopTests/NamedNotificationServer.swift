// SPDX-License-Identifier: Apache-2.0

@testable import LinuxDesktop
import PushDBus
import PushNet
import TestSupport

/// A notification server that only says its name and its vendor.
final class NamedNotificationServer {
    private let connection: BusConnection
    private let driver: BusDriver
    private(set) var informationCallCount = 0

    init(_ session: BusSession, name: String, vendor: String = "tests") throws {
        connection = try BusConnection(.address(session.bus.address))
        driver = try BusDriver(loop: session.loop, connection: connection)
        let service = NotificationServer.busName
        try connection.serve(path: NotificationServer.path, interface: service, introspection: "<node/>") {
            [weak self] call in
            guard let self, call.member == "GetServerInformation" else {
                return .failure(BusError(name: BusError.unknownMethodName, message: call.member))
            }
            informationCallCount += 1
            return .success([name, vendor, "1", "1.2"].map { .string($0) })
        }
        // An earlier server may still have the name for a moment.
        _ = try connection.requestName(service, waits: true)
    }
}
