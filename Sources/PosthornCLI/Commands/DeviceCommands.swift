// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

/// The command `posthorn device`: manages the server's devices.
enum DeviceCommands {
    static let group = CommandNode(
        group: "device", "Manage the devices on the server.",
        children: [list, show, rename, remove], defaultChild: "list")

    private static let id = Argument("ID", "The device ID (16 hexadecimal digits).")

    private static let list = CommandNode(Command("list", "List the devices.")) {
        (invocation, context) throws(CommandError) in
        let admin = context.admin(invocation)
        let first = try admin.send(.get("devices"), for: AdminAPI.Devices.self)
        guard first.next != nil else { return report(of: first) }
        return try writePages(from: first, asJSON: invocation.has("json")) { (after) throws(CommandError) in
            try admin.send(.get("devices").with([("after", after)]), for: AdminAPI.Devices.self)
        }
    }

    /// Prints each page of a list as soon as it arrives, so that the whole list is never in memory.
    private static func writePages(
        from first: AdminAPI.Devices, asJSON: Bool,
        _ page: (_ after: String) throws(CommandError) -> AdminAPI.Devices
    ) throws(CommandError) -> Report {
        var (devices, isFirst) = (first, true)
        _ = try Console.write(asJSON ? #"{"devices":["# : table(of: devices).text + "\n")
        while true {
            if asJSON { try writeJSON(devices.devices, isFirst: isFirst) }
            isFirst = false
            guard let after = devices.next else { break }
            devices = try page(after)
            if !asJSON, !devices.devices.isEmpty {
                _ = try Console.write(table(of: devices).textWithoutHeading + "\n")
            }
        }
        if asJSON { _ = try Console.write("]}\n") }
        var report = Report("", json: Done())
        report.isWritten = true
        return report
    }

    private static func writeJSON(_ devices: [AdminAPI.Device], isFirst: Bool) throws(CommandError) {
        var text = ""
        for (index, device) in devices.enumerated() {
            if index > 0 || !isFirst { text += "," }
            text += try Console.json(device)
        }
        _ = try Console.write(text)
    }

    private static let show = CommandNode(Command("show", "Show a device.", arguments: [id])) {
        (invocation, context) throws(CommandError) in
        let request = AdminRequest.get("devices", invocation.arguments[0])
        return report(of: try context.admin(invocation).send(request, for: AdminAPI.Device.self))
    }

    private static let rename = CommandNode(
        Command(
            "rename", "Give a device another name.",
            discussion: """
                The name tells devices apart for administrators. By default it is the user and the host; the setting \
                name in agent.ini changes it before the enrolment.
                """,
            arguments: [id, Argument("NAME", "The new name.")])
    ) { (invocation, context) throws(CommandError) in
        let request = renameRequest(invocation)
        return report(of: try context.admin(invocation).send(request, for: AdminAPI.Device.self))
    }

    /// Builds the request of `device rename`.
    static func renameRequest(_ invocation: Invocation) -> AdminRequest {
        .patch("devices", invocation.arguments[0], body: AdminAPI.DeviceChange(name: invocation.arguments[1]))
    }

    private static let remove = CommandNode(
        Command(
            "remove", "Remove a device.",
            discussion: """
                All device tokens of the device become invalid (Unregistered), its pending notifications are removed, \
                and its secret is revoked.
                """,
            arguments: [id], options: [SharedOptions.yes])
    ) { (invocation, context) throws(CommandError) in
        let id = invocation.arguments[0]
        let admin = context.admin(invocation)
        if !invocation.has("yes") {
            let device = try admin.send(.get("devices", id), for: AdminAPI.Device.self)
            try Console.confirm("Remove device \(id) (\(oneLine(device.name)))?", unless: false)
        }
        try admin.send(.delete("devices", id))
        return Report("Removed device \(id).", json: Done())
    }

    /// Formats the output of `device show`.
    static func report(of device: AdminAPI.Device) -> Report {
        Report(
            Table.fields([
                ("Device ID", device.deviceID), ("Name", device.name), ("Platform", device.platform),
                ("Agent", device.agent.isEmpty ? "unknown" : device.agent),
                ("Enrolled", LocalTime.text(device.enrolledAt)),
                ("Connected", device.connected ? "yes" : "no"), ("Last seen", lastSeen(device)),
                ("Pending", "\(device.pendingCount)"),
                ("Topics", device.topics.isEmpty ? "none" : device.topics.map(\.text).joined(separator: ", ")),
            ]), json: device)
    }

    /// Formats the output of `device list`.
    static func report(of devices: AdminAPI.Devices) -> Report {
        guard !devices.devices.isEmpty else {
            return Report("No devices. Create an enrolment code with 'posthorn enrol'.", json: devices)
        }
        return Report(table(of: devices).text, json: devices)
    }

    private static func table(of devices: AdminAPI.Devices) -> Table {
        Table(
            [
                .text("DEVICE ID"), .name("NAME"), .name("AGENT"), .text("LAST SEEN"), .number("PENDING"),
                .number("APPS"),
            ],
            rows: devices.devices.map { device in
                [
                    device.deviceID, device.name, device.agent, lastSeen(device), "\(device.pendingCount)",
                    "\(device.topics.count)",
                ]
            })
    }

    private static func lastSeen(_ device: AdminAPI.Device) -> String {
        if device.connected { return "now" }
        return device.seenAt.map { LocalTime.text($0) } ?? "unknown"
    }
}
