// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// What an ephemeral server has, as variables of a shell.
struct EphemeralVariables {
    let values: [String: String]

    init(_ facts: AdminAPI.Ephemeral, _ extras: EphemeralExtras?) {
        var values = extras?.values ?? [:]
        values["APNS_HOST"] = facts.host
        values["APNS_PORT"] = String(facts.port)
        for name in ["APNS_CA", "APNS_CA_FILE"] { values[name] = facts.caFile }
        for name in ["APNS_KEY", "APNS_KEY_FILE"] { values[name] = facts.keyFile }
        values["APNS_KEY_ID"] = facts.keyID
        values["APNS_TEAM_ID"] = facts.teamID
        values["POSTHORN_ADMIN_SOCKET"] = facts.adminSocket
        if let topic = facts.topics.first {
            values["APNS_TOPIC"] = topic.topic
            values["APNS_TOKEN"] = topic.token
            values["APNS_GONE"] = topic.goneToken
            values["APNS_DEVICE_ID"] = topic.deviceID
            values["APNS_DEVICE_SECRET"] = topic.deviceSecret
        }
        self.values = values
    }

    /// The file's text: sourced by a shell it sets and exports all; between the first line and the last stand
    /// `NAME='value'` lines alone.
    var text: String {
        let lines = values.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.quoted($0.value))" }
        return (["set -a"] + lines + ["set +a"]).joined(separator: "\n") + "\n"
    }

    /// Writes the file, which holds secrets, with mode 0600; does nothing without a path.
    func write(to path: String?) throws(StoreRefusal) {
        guard let path else { return }
        do throws(NetError) { try PrivateFile.write(Array(text.utf8), to: path) } catch {
            throw .unavailable("\(path) cannot be written: \(error.description)")
        }
    }

    /// A word of letters that no shell takes for anything else, else the value in single quotes.
    private static func quoted(_ value: String) -> String {
        let isPlain = value.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"),
                UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: ":"):
                true
            default: false
            }
        }
        guard !isPlain || value.isEmpty else { return value }
        return "'" + value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
