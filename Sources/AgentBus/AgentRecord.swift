// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushDBus

/// A dictionary (`a{sv}`) in an answer of the agent.
///
/// The agent writes `entries`, and its clients read them with `init`. A missing key reads as empty, so that a client
/// understands an older agent.
package protocol AgentRecord {
    /// Reads a dictionary; a missing or mistyped key reads as empty.
    init(_ dictionary: BusValue)

    /// The keys and their values, each in a variant.
    var entries: [(String, BusValue)] { get }
}

extension AgentRecord {
    /// The dictionary of the record.
    package var dictionary: BusValue { .dictionary(entries) }

    /// Returns the dictionaries of records as an array.
    package static func array(_ records: [Self]) -> BusValue { .array("a{sv}", records.map(\.dictionary)) }
}

extension BusValue {
    /// Returns a text in a variant.
    static func entry(_ text: String) -> BusValue { .variant(.text(text)) }
    /// Returns a truth value in a variant.
    static func entry(_ flag: Bool) -> BusValue { .variant(.bool(flag)) }
    /// Returns a number in a variant.
    static func entry(_ number: Int64) -> BusValue { .variant(.int64(number)) }
    /// Returns a count in a variant.
    static func entry(_ count: UInt32) -> BusValue { .variant(.uint32(count)) }
    /// Returns a time as UNIX seconds in a variant; 0 stands for nil.
    static func entry(secondsOf time: Timestamp?) -> BusValue { .entry(time?.unixSeconds ?? 0) }
    /// Returns texts in a variant.
    static func entry(_ texts: [String]) -> BusValue { .variant(.array("s", texts.map { .text($0) })) }
    /// Returns records in a variant.
    static func entry<Record: AgentRecord>(_ records: [Record]) -> BusValue { .variant(Record.array(records)) }

    /// Returns the time of a dictionary's entry in UNIX seconds; nil for 0 and for a missing key.
    func secondsIfSet(_ key: String) -> Timestamp? {
        let seconds: Int64 = number(key)
        return seconds > 0 ? Timestamp(unixSeconds: seconds) : nil
    }
}
