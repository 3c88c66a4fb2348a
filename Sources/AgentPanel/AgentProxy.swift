// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// The agent as the panel sees it: `org.posthorn.Agent1` on the session bus.
///
/// The panel holds no state of its own: it asks, shows, and asks again when the agent signals a change.
final class AgentProxy {
    /// An app and what it may do.
    struct App: Equatable {
        var id: String
        var name: String
        var badge: Int64
        /// In the order of `Setting.allCases`.
        var allowed: [Bool]
    }

    /// A notification that came.
    struct Entry: Equatable {
        var appName: String
        var text: EntryText
    }

    /// What a person can switch for an app.
    enum Setting: String, CaseIterable {
        case badge, sound, alert
    }

    /// How many notifications are listed.
    static let entryCountMax: UInt32 = 50

    private static let name = "org.posthorn.Agent1"
    private static let path = "/org/posthorn/Agent1"
    let connection: BusConnection

    /// Connects to the session bus and listens for changes.
    ///
    /// - Parameter changed: Called in `connection.process()` when something must be asked again.
    /// - Throws: Why there is no bus.
    init(changed: @escaping () -> Void) throws(BusError) {
        connection = try BusConnection(.session)
        for signal in ["SettingsChanged", "InboxChanged", "BadgeChanged", "TokenChanged", "StatusChanged"] {
            try connection.subscribe(sender: Self.name, path: Self.path, interface: Self.name, member: signal) { _ in
                changed()
            }
        }
        try connection.watchOwner(of: Self.name) { _ in changed() }
    }

    func server() throws(BusError) -> ServerText {
        let facts = try call("GetStatus").first
        func time(_ key: String) -> Int64? { facts?[key: key]?.integerValue.flatMap { $0 > 0 ? $0 : nil } }
        let isConnected = facts?[key: "connected"]?.boolValue ?? false
        return ServerText(
            url: facts?[key: "server_url"]?.stringValue ?? "",
            connectedSinceUnixSeconds: isConnected ? time("connected_since") : nil,
            lastConnectedUnixSeconds: time("last_connected"), lastError: facts?[key: "last_error"]?.stringValue ?? "")
    }

    func isMasterOn() throws(BusError) -> Bool {
        try call("GetSetting", [.string(""), .string(""), .string("master")]).first?.stringValue == "on"
    }

    func setMaster(_ isOn: Bool) throws(BusError) { try set("master", of: "", to: isOn) }

    func set(_ setting: Setting, of app: String, to isOn: Bool) throws(BusError) {
        try set(setting.rawValue, of: app, to: isOn)
    }

    private func set(_ name: String, of app: String, to isOn: Bool) throws(BusError) {
        _ = try call("SetSetting", [.string(app), .string(""), .string(name), .string(isOn ? "on" : "off")])
    }

    func apps() throws(BusError) -> [App] {
        try call("ListApps").first?.arrayValue?.map { facts in
            App(
                id: facts[key: "app_id"]?.stringValue ?? "", name: facts[key: "name"]?.stringValue ?? "",
                badge: facts[key: "badge"]?.integerValue ?? 0,
                allowed: Setting.allCases.map { facts[key: "allows_\($0.rawValue)"]?.boolValue ?? false })
        } ?? []
    }

    func entries() throws(BusError) -> [Entry] {
        try call("ListInbox", [.uint32(Self.entryCountMax)]).first?.arrayValue?.map { facts in
            Entry(
                appName: facts[key: "app_name"]?.stringValue ?? "",
                text: EntryText(
                    title: facts[key: "title"]?.stringValue ?? "", body: facts[key: "body"]?.stringValue ?? "",
                    receivedUnixMilliseconds: facts[key: "received_at"]?.integerValue ?? 0,
                    state: facts[key: "state"]?.stringValue ?? "", reason: facts[key: "reason"]?.stringValue ?? ""))
        } ?? []
    }

    private func call(_ member: String, _ arguments: [BusValue] = []) throws(BusError) -> [BusValue] {
        try connection.call(Self.name, Self.path, Self.name, member, arguments, timeout: .seconds(5))
    }
}
