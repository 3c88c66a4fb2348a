// SPDX-License-Identifier: Apache-2.0

package import AgentBus
internal import PushDBus

/// The agent's records as JSON objects, with the keys of the D-Bus dictionaries.
extension AgentRecord {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: RecordKey.self)
        for (key, value) in entries {
            // The output of the admin API has the same name for a process ID.
            try container.encode(EncodedValue(value), forKey: RecordKey(key == "pid" ? "process_id" : key))
        }
    }
}

extension StatusRecord: Encodable {}
extension AppRecord: Encodable {}
extension SettingRecord: Encodable {}
extension SoundRecord: Encodable {}
extension AuthorityRecord: Encodable {}
extension InboxRecord: Encodable {}

private struct RecordKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

/// A D-Bus value that is encoded as the JSON value of the same meaning.
private struct EncodedValue: Encodable {
    private let value: BusValue

    init(_ value: BusValue) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        if let pairs = value.dictionaryPairs {
            var container = encoder.container(keyedBy: RecordKey.self)
            for (key, item) in pairs { try container.encode(EncodedValue(item), forKey: RecordKey(key)) }
        } else if let items = value.arrayValue {
            var container = encoder.unkeyedContainer()
            for item in items { try container.encode(EncodedValue(item)) }
        } else {
            var container = encoder.singleValueContainer()
            if let text = value.stringValue {
                try container.encode(text)
            } else if let flag = value.boolValue {
                try container.encode(flag)
            } else if let number = value.integerValue {
                try container.encode(number)
            } else {
                try container.encodeNil()
            }
        }
    }
}
