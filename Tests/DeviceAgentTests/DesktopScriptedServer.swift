// SPDX-License-Identifier: Apache-2.0

@testable import DeviceAgent
import LinuxDesktop
import PushDBus
import PushNet
import TestSupport

/// A notification server that follows the test's script, for behavior that no server in the distribution shows.
final class ScriptedNotificationServer {
    static let busName = "org.freedesktop.Notifications"
    static let path = "/org/freedesktop/Notifications"

    /// One call of `Notify`.
    struct Shown {
        var replacedID: UInt32
        var icon: String
        var summary: String
        var body: String
        var actions: [String]
        var hints: BusValue
        var expireTimeout: BusValue
    }

    let connection: BusConnection
    var capabilities: [String]
    /// The error that answers the next and all later `Notify` calls, instead of a number.
    var refusal: BusError?
    /// Whether the server refuses an alert once that looks like the previous one, as Plasma does within a second.
    var refusesRepetitions = false
    /// Whether the server shows alerts but returns the number 0, which is invalid.
    var givesNoNumbers = false
    private(set) var refusedCount = 0
    private var last: (texts: [BusValue], hasRefused: Bool)?
    private(set) var shown: [Shown] = []
    private(set) var closed: [UInt32] = []
    private(set) var notifyCount = 0
    private(set) var capabilityCallCount = 0
    private(set) var informationCallCount = 0
    private let driver: BusDriver
    private let name: String
    private let vendor: String

    init(
        _ bus: DesktopBus, loop: EventLoop, name: String = "scripted", vendor: String = "tests",
        capabilities: [String] = ["actions", "body", "body-markup"]
    ) throws {
        (self.name, self.vendor) = (name, vendor)
        self.capabilities = capabilities
        connection = try BusConnection(.address(bus.address))
        driver = try BusDriver(loop: loop, connection: connection)
        try connection.serve(path: Self.path, interface: Self.busName, introspection: "<node/>") { [weak self] call in
            self?.answer(call) ?? .failure(BusError(name: BusError.failedName, message: "gone"))
        }
        _ = try connection.requestName(Self.busName)
    }

    /// Sends one of the server's signals.
    func say(_ member: String, _ id: UInt32, _ detail: BusValue) throws {
        try connection.emit(Self.path, Self.busName, member, [.uint32(id), detail])
    }

    private func answer(_ call: IncomingCall) -> Result<[BusValue], BusError> {
        switch call.member {
        case "GetServerInformation":
            informationCallCount += 1
            return .success([name, vendor, "1", "1.2"].map { .string($0) })
        case "GetCapabilities":
            capabilityCallCount += 1
            return .success([.strings(capabilities)])
        case "CloseNotification":
            closed.append(UInt32(call.arguments.first?.integerValue ?? 0))
            return .success([])
        case "Notify":
            notifyCount += 1
            return notify(call.arguments)
        default: return .failure(BusError(name: BusError.unknownMethodName, message: call.member))
        }
    }

    private func notify(_ arguments: [BusValue]) -> Result<[BusValue], BusError> {
        if let refusal { return .failure(refusal) }
        guard arguments.map(\.signature).joined() == "susssasa{sv}i" else {
            return .failure(.invalidArguments("not the signature of Notify"))
        }
        if let error = refuseRepetition([arguments[0], arguments[3], arguments[4]]) { return .failure(error) }
        let replacedID = UInt32(arguments[1].integerValue ?? 0)
        shown.append(
            Shown(
                replacedID: replacedID, icon: arguments[2].stringValue ?? "", summary: arguments[3].stringValue ?? "",
                body: arguments[4].stringValue ?? "",
                actions: (arguments[5].arrayValue ?? []).compactMap(\.stringValue), hints: arguments[6],
                expireTimeout: arguments[7]))
        if givesNoNumbers { return .success([.uint32(0)]) }
        return .success([.uint32(replacedID == 0 ? UInt32(shown.count) : replacedID)])
    }

    private func refuseRepetition(_ texts: [BusValue]) -> BusError? {
        if refusesRepetitions, let last, last.texts == texts, !last.hasRefused {
            self.last?.hasRefused = true
            refusedCount += 1
            return BusError(
                name: "org.freedesktop.Notifications.Error.ExcessNotificationGeneration",
                message: "Created too many similar notifications in quick succession")
        }
        last = (texts, false)
        return nil
    }
}
