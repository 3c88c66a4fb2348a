// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// `posthorn device`: the devices that the server knows.
package enum DeviceCommands {
    static let group = CommandNode(
        group: "device", "List, show and remove devices on the server.",
        children: [list, show, remove], defaultChild: "list")

    private static let id = Argument("ID", "The device id, sixteen hexadecimal digits.")

    private static let list = CommandNode(Command("list", "List the devices.")) {
        (invocation, surroundings) throws(CommandError) in
        report(of: try surroundings.admin(invocation).send(.get("devices"), for: AdminAPI.Devices.self))
    }

    private static let show = CommandNode(Command("show", "Show a device.", arguments: [id])) {
        (invocation, surroundings) throws(CommandError) in
        let request = AdminRequest.get("devices", invocation.arguments[0])
        return report(of: try surroundings.admin(invocation).send(request, for: AdminAPI.Device.self))
    }

    private static let remove = CommandNode(
        Command(
            "remove", "Remove a device.",
            discussion: """
                All its device tokens become Unregistered, notifications that wait for it are dropped, and its secret \
                opens nothing any more.
                """,
            arguments: [id], options: [SharedOptions.yes])
    ) { (invocation, surroundings) throws(CommandError) in
        let id = invocation.arguments[0]
        try Console.confirm("Remove device \(id)?", unless: invocation.has("yes"))
        try surroundings.admin(invocation).send(.delete("devices", id))
        return Report("Removed \(id).", json: Done())
    }

    /// What `device show` prints.
    package static func report(of device: AdminAPI.Device) -> Report {
        Report(
            Table.fields([
                ("Device ID", device.deviceID), ("Name", device.name), ("Platform", device.platform),
                ("Enrolled", LocalTime.text(unixSeconds: device.enrolledAt)),
                ("Connected", device.connected ? "yes" : "no"), ("Last seen", lastSeen(device)),
                ("Pending", "\(device.pendingCount)"),
                ("Topics", device.topics.isEmpty ? "none" : device.topics.joined(separator: ", ")),
            ]), json: device)
    }

    /// What `device list` prints.
    package static func report(of devices: AdminAPI.Devices) -> Report {
        guard !devices.devices.isEmpty else {
            return Report("No devices yet. Let one in: posthorn enrol", json: devices)
        }
        let table = Table(
            [
                .text("DEVICE ID"), .text("NAME"), .text("PLATFORM"), .text("CONNECTED"), .text("LAST SEEN"),
                .number("PENDING"), .number("APPS"), .text("ENROLLED"),
            ],
            rows: devices.devices.map { device in
                [
                    device.deviceID, device.name, device.platform, device.connected ? "yes" : "no", lastSeen(device),
                    "\(device.pendingCount)", "\(device.topics.count)", LocalTime.text(unixSeconds: device.enrolledAt),
                ]
            })
        return Report(table.text, json: devices)
    }

    private static func lastSeen(_ device: AdminAPI.Device) -> String {
        if device.connected { return "now" }
        return device.seenAt.map { LocalTime.text(unixSeconds: $0) } ?? "unknown"
    }
}
