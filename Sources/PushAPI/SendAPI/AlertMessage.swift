// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushCore

extension SendMessage {
    /// Reads a webhook of Prometheus' Alertmanager.
    ///
    /// A later webhook of the same group replaces this notification.
    ///
    /// - Parameter bytes: The body.
    /// - Throws: A body that is not such a webhook.
    ///
    /// - SeeAlso: Prometheus' documentation, "Alerting", "Configuration", `webhook_config`
    package init(alertmanager bytes: [UInt8]) throws(SendDefect) {
        let webhook = try Self.webhook(bytes)
        self.init()
        let alerts = webhook["alerts"]?.array ?? []
        let common = webhook["commonLabels"]
        let isFiring = webhook["status"]?.string == "firing"
        let firing = alerts.filter { $0["status"]?.string == "firing" }
        let state = isFiring ? "FIRING:\(firing.count)" : "RESOLVED"
        let group = (webhook["groupLabels"]?.members ?? []).compactMap(\.value.string).joined(separator: " ")
        let name = common?["alertname"]?.string ?? group
        title = name.isEmpty ? "[\(state)]" : "[\(state)] \(name)"
        body = AlertLines.text(of: alerts, below: title)
        setSeverity(common?["severity"]?.string, isFiring: isFiring)
        collapse(by: webhook["groupKey"]?.string)
        let links = [alerts.first?["generatorURL"]?.string, webhook["externalURL"]?.string]
        link = links.compactMap { $0 }.first { (try? NotificationLink($0)) != nil }
    }

    /// Reads a webhook of Grafana's alerting.
    ///
    /// - Parameter bytes: The body.
    /// - Throws: A body that is not such a webhook.
    ///
    /// - SeeAlso: Grafana's documentation, "Configure the webhook notifier for Alerting"
    package init(grafana bytes: [UInt8]) throws(SendDefect) {
        let webhook = try Self.webhook(bytes)
        self.init()
        let alerts = webhook["alerts"]?.array ?? []
        // Grafana's default title has two spaces where a name is empty.
        title = webhook["title"]?.string.map { $0.split(separator: " ").joined(separator: " ") }
        let lines = AlertLines.text(of: alerts, below: title)
        body = lines.isEmpty ? webhook["message"]?.string : lines
        let isFiring = webhook["status"]?.string != "resolved"
        setSeverity(webhook["commonLabels"]?["severity"]?.string, isFiring: isFiring)
        collapse(by: webhook["groupKey"]?.string)
        let first = alerts.first
        let links = ["panelURL", "dashboardURL", "generatorURL"].map { first?[$0]?.string }
        link = (links + [webhook["externalURL"]?.string]).compactMap { $0 }
            .first { (try? NotificationLink($0)) != nil }
    }

    private static func webhook(_ bytes: [UInt8]) throws(SendDefect) -> JSONValue {
        guard let value = try? JSONValue(parsing: bytes.span), value["alerts"]?.array != nil else {
            throw SendDefect("The body is not a webhook with alerts.")
        }
        return value
    }

    private mutating func setSeverity(_ severity: String?, isFiring: Bool) {
        guard isFiring else {
            (level, isSilent) = (.passive, true)
            return
        }
        if let severity, ["critical", "page", "emergency"].contains(severity.lowercased()) { level = .timeSensitive }
    }

    /// Makes a later notification about the same group replace this one.
    private mutating func collapse(by group: String?) {
        guard let group, !group.isEmpty else { return }
        // FNV-1a. The owner of a token names the groups, so nobody else can produce two groups with the same hash.
        let hash = group.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        collapseID = "alerts-\(String(hash, radix: 16))"
        threadID = collapseID
    }
}

/// The body of a notification about alerts.
private enum AlertLines {
    /// The maximum size of a name that is searched and shown, in bytes, which bounds the work for a large webhook.
    private static let nameByteCountMax = 128

    /// Returns a line for each alert: what is wrong, and whether it is over.
    ///
    /// A line begins with the name of its alert unless the title or the line already contains the name.
    static func text(of alerts: [JSONValue], below title: String?) -> String {
        let isMixed = Set(alerts.map { $0["status"]?.string }).count > 1
        let title = String(decoding: (title ?? "").utf8.prefix(2 * nameByteCountMax), as: UTF8.self)
        let lines = alerts.compactMap { alert -> String? in
            let annotations = alert["annotations"]
            let text = ["summary", "description", "message"].compactMap { annotations?[$0]?.string }
                .first { !$0.isEmpty }
            guard var line = text ?? labels(of: alert) else { return nil }
            if let name = alert["labels"]?["alertname"]?.string, !contains(title, name), !contains(line, name) {
                line = "\(name): \(line)"
            }
            return isMixed && alert["status"]?.string == "resolved" ? "Resolved: \(line)" : line
        }
        return lines.joined(separator: "\n")
    }

    /// Returns whether a text contains a name; true for an empty or very long name.
    private static func contains(_ text: String, _ name: String) -> Bool {
        guard (1...nameByteCountMax).contains(name.utf8.count) else { return true }
        // Compares bytes, because comparing characters can take quadratic time.
        return unsafe strstr(text, name) != nil
    }

    private static func labels(of alert: JSONValue) -> String? {
        let labels = (alert["labels"]?.members ?? []).compactMap { label in
            label.key == "alertname" ? nil : label.value.string.map { "\(label.key): \($0)" }
        }
        return labels.isEmpty ? alert["labels"]?["alertname"]?.string : labels.joined(separator: ", ")
    }
}
