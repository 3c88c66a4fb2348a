// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushCore
internal import PushDBus

/// The arguments of a call.
///
/// All of them are validated, because a caller may send anything.
struct Arguments {
    private let member: String
    private let values: [BusValue]

    init(_ call: IncomingCall) {
        member = call.member
        values = call.arguments
    }

    /// Returns a text without NUL that is not too long.
    func text(_ index: Int) throws(AgentRefusal) -> String {
        guard values.indices.contains(index), case .string(let text) = values[index] else {
            throw wrong(index, "a string")
        }
        return try checked(text)
    }

    /// Returns the app that a text identifies; the text may be no valid app ID.
    func appID(_ index: Int) throws(AgentRefusal) -> AppID { AppID(try text(index)) }

    /// Returns the app that a text identifies; nil if the text is empty and stands for all apps.
    func appIDOrAll(_ index: Int) throws(AgentRefusal) -> AppID? { AppID(nilIfEmpty: try text(index)) }

    /// Returns a boolean argument.
    func bool(_ index: Int) throws(AgentRefusal) -> Bool {
        guard values.indices.contains(index), case .bool(let flag) = values[index] else {
            throw wrong(index, "a boolean")
        }
        return flag
    }

    /// Returns an unsigned 32-bit number.
    func uint32(_ index: Int) throws(AgentRefusal) -> UInt32 {
        guard values.indices.contains(index), case .uint32(let number) = values[index] else {
            throw wrong(index, "an unsigned 32-bit number")
        }
        return number
    }

    /// Returns the inbox entry that a number identifies; there may be no such entry.
    func entryID(_ index: Int) throws(AgentRefusal) -> EntryID { EntryID(rawValue: try int64(index)) }

    /// Returns the inbox entry that a number identifies; nil for 0, which stands for all entries.
    func entryIDOrAll(_ index: Int) throws(AgentRefusal) -> EntryID? { EntryID(nilIfZero: try int64(index)) }

    /// Returns the time that UNIX seconds mean; nil for 0.
    func secondsIfSet(_ index: Int) throws(AgentRefusal) -> Timestamp? {
        let seconds = try int64(index)
        return seconds == 0 ? nil : Timestamp(unixSeconds: seconds)
    }

    private func int64(_ index: Int) throws(AgentRefusal) -> Int64 {
        guard values.indices.contains(index), case .int64(let number) = values[index] else {
            throw wrong(index, "a 64-bit number")
        }
        return number
    }

    /// Returns the inbox entries that an array of 64-bit numbers identifies.
    func entryIDs(_ index: Int) throws(AgentRefusal) -> [EntryID] {
        guard values.indices.contains(index), case .array("x", let numbers) = values[index] else {
            throw wrong(index, "an array of 64-bit numbers")
        }
        return numbers.compactMap(\.integerValue).map { EntryID(rawValue: $0) }
    }

    /// Returns options by name and refuses names that are not allowed; an empty text counts as absent.
    func options(_ index: Int, allowed: [String]) throws(AgentRefusal) -> [String: String] {
        guard values.indices.contains(index), case .dictionary(let members) = values[index] else {
            throw wrong(index, "a dictionary of options")
        }
        var options: [String: String] = [:]
        for (name, value) in members {
            guard let known = allowed.first(where: { $0.utf8.elementsEqual(name.utf8) }) else {
                throw AgentRefusal(
                    .invalidArguments, "\(member) has no option '\(name)', only \(allowed.joined(separator: ", ")).")
            }
            var inner = value
            if case .variant(let value) = inner { inner = value }
            guard case .string(let text) = inner else { throw wrong(index, "strings as options") }
            if !text.isEmpty { options[known] = try checked(text) }
        }
        return options
    }

    private func checked(_ text: String) throws(AgentRefusal) -> String {
        guard text.utf8.count <= AgentService.textByteCountMax, !text.utf8.contains(0) else {
            throw AgentRefusal(
                .invalidArguments, "A text for \(member) is longer than \(AgentService.textByteCountMax) bytes.")
        }
        return text
    }

    private func wrong(_ index: Int, _ expected: String) -> AgentRefusal {
        AgentRefusal(.invalidArguments, "\(member) takes \(expected) as argument \(index + 1).")
    }
}
