// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushStore

/// The values of an ephemeral server as shell variables.
struct EphemeralVariables {
    let values: [String: String]

    init(_ facts: TestModeAPI.Ephemeral, _ extras: EphemeralExtras?) {
        var values = extras?.values ?? [:]
        values["APNS_HOST"] = facts.host
        values["APNS_PORT"] = String(facts.port)
        for name in ["APNS_CA", "APNS_CA_FILE"] { values[name] = facts.caFile }
        for name in ["APNS_KEY", "APNS_KEY_FILE"] { values[name] = facts.keyFile }
        values["APNS_KEY_ID"] = facts.keyID
        values["APNS_TEAM_ID"] = facts.teamID
        values["POSTHORN_ADMIN_SOCKET"] = facts.adminSocket
        if let topic = facts.topics.first {
            values["APNS_TOPIC"] = topic.topic.text
            values["APNS_TOKEN"] = topic.token
            values["APNS_GONE"] = topic.goneToken
            values["APNS_DEVICE_ID"] = topic.deviceID
            values["APNS_DEVICE_SECRET"] = topic.deviceSecret
        }
        self.values = values
    }

    /// The text of the file, which sets and exports all variables when a shell sources it.
    ///
    /// All lines between the first and the last are assignments such as `NAME='value'`.
    var text: String {
        let lines = values.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.quoted($0.value))" }
        return (["set -a"] + lines + ["set +a"]).joined(separator: "\n") + "\n"
    }

    /// Writes the file, which contains secrets, with mode 0600; does nothing without a path.
    func write(to path: String?) throws(StoreRefusal) {
        guard let path else { return }
        do throws(NetError) { try PrivateFile.write(Array(text.utf8), to: path) } catch {
            throw .unavailable("cannot write \(path): \(error.description)")
        }
    }

    /// Returns a value as one shell word: unchanged if all of its characters are safe, else in single quotes.
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
