// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore

extension Notification {
    /// Returns a copy with unique IDs, by which a test finds its trace.
    func identified(_ number: UInt64) -> Notification {
        Notification(
            address: address, apnsID: Array(UniqueID.apns(number).text.utf8), uniqueID: .unique(number),
            suffixedTopic: suffixedTopic, pushType: pushType,
            priority: priority, expiration: expiration, collapseID: collapseID, payload: payload,
            acceptedAt: acceptedAt, channel: channel)
    }
}

extension UniqueID {
    static func unique(_ number: UInt64) -> UniqueID { UniqueID(high: 7, low: number) }
    static func apns(_ number: UInt64) -> UniqueID { UniqueID(high: 8, low: number) }
}

extension RequestTarget {
    /// Returns the result of a trace search.
    func trace(
        _ subject: TraceQuery.Subject, since: Timestamp = .distantPast, after: Int64 = 0, limit: Int = 1000,
        isForWebhook: Bool = false
    ) throws -> TraceFindings {
        try search(TraceQuery(subject, since: since, after: after, countMax: limit, isForWebhook: isForWebhook))
    }

    /// Returns the trace steps of one notification, with their reasons.
    func steps(_ number: UInt64) throws -> [String] { try trace(.notification(.unique(number))).entries.map(\.text) }

    /// Reports outcomes on a device.
    func report(_ device: TestDevice, _ acknowledgements: [DeviceAPI.Acknowledgement]) throws {
        try succeed(.device(.acknowledge(acknowledgements), by: device.credential))
    }
}

extension TestStore {
    func search(_ query: TraceQuery) throws -> TraceFindings {
        let answer = address()
        store.submit([.perform(.allDevices(.trace(query)), answer: answer)])
        // A long search may end after requests that were submitted later.
        let replies = try collectors[0].take("a trace") { $0.contains { $0.answers(answer) } }
        for case .performed(let result, answer) in replies {
            if case .trace(let findings) = try result.get() { return findings }
        }
        throw MissingReply(what: "a trace")
    }

    func firstDirectory() throws -> Directory {
        try reopen()
        let replies = try collectors[0].take("a directory") { !$0.isEmpty }
        guard case .directory(let directory) = replies.first else { throw MissingReply(what: "a directory") }
        return directory
    }
}

extension TraceEntry {
    /// The step, followed by a slash and the reason if there is one.
    var text: String { event.step.word + (event.detail.word.map { "/\($0)" } ?? "") }
}
