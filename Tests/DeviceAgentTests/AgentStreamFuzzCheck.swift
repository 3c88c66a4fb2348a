// SPDX-License-Identifier: Apache-2.0

@testable import AgentStore
@testable import DeviceAgent
import Foundation
import PushAPI
import PushCore
import PushWebSocket

/// The invariants for any bytes that a server sends on the agent's stream.
///
/// FuzzTesting compiles this file too.
///
/// The bytes take the agent's path: a parser of events or frames, the decoder of each message, and the inbox database.
/// Sockets and the message bus are left out.
enum AgentStreamFuzzCheck {
    /// Reads a stream whole and in two parts, and writes the messages to a database.
    ///
    /// - Parameter input: The bytes. The first one selects the split, and the second one the form of the stream.
    /// - Returns: The violation, or nil.
    @Sendable static func stream(_ input: [UInt8]) -> String? {
        let place = min(Int(input.first ?? 0), max(0, input.count - 2))
        let isWebSocket = (input.dropFirst().first ?? 0) & 1 == 0
        let stream = Array(input.dropFirst(2))
        let whole = read([stream], isWebSocket: isWebSocket)
        let parts = read([Array(stream[..<place]), Array(stream[place...])], isWebSocket: isWebSocket)
        if whole != parts { return "Cut at \(place) the stream says something else." }
        return receptionFailure(whole.arrivals)
    }

    /// The content of a stream.
    private struct Report: Equatable {
        var arrivals: [Arrival] = []
        var policyVersions: [Int64] = []
        var goodbyes: [StreamGoodbye] = []
        var pongs: [[UInt8]] = []
        var isReadable = true

        /// Processes one message of a WebSocket, as the agent does.
        mutating func take(message: Span<UInt8>) {
            switch try? StreamMessage.fromServer(message) {
            case .notification(let data)?:
                let sequence = (try? JSONValue(parsing: data.span))?["id"]?.integer
                if let arrival = Arrival(notificationData: data, sequence: sequence) { arrivals.append(arrival) }
            case .version(let notice)?: policyVersions.append(notice.version)
            case .goodbye(let goodbye)?: goodbyes.append(goodbye)
            case .unknown?, nil: break
            }
        }

        /// Processes one server-sent event, as the agent does.
        mutating func take(event: EventStreamEvent) {
            guard case .event(let name, let id, let data) = event else { return }
            switch name {
            case NotificationEvent.name:
                if let arrival = Arrival(notificationData: data, sequence: Int64(id)) { arrivals.append(arrival) }
            case VersionNotice.Kind.policy.rawValue:
                if let notice = VersionNotice(.policy, data: data.span) { policyVersions.append(notice.version) }
            case StreamGoodbye.eventName: goodbyes.append(StreamGoodbye(data: data.span))
            default: break
            }
        }
    }

    private static func read(_ pieces: [[UInt8]], isWebSocket: Bool) -> Report {
        isWebSocket ? SocketReader(pieces).report : readEvents(pieces)
    }

    private static func readEvents(_ pieces: [[UInt8]]) -> Report {
        var report = Report()
        var parser = EventStreamParser()
        for piece in pieces {
            do { try parser.receive(piece.span) { report.take(event: $0) } } catch { report.isReadable = false }
        }
        return report
    }

    /// Collects the frames of a server.
    private final class SocketReader: WebSocketDelegate {
        var report = Report()

        init(_ pieces: [[UInt8]]) {
            let engine = WebSocketEngine(role: .client, messageByteCountMax: Limits.streamEventByteCountMax) { 1 }
            let connection = WebSocketConnection(engine: engine)
            for piece in pieces { connection.receive(piece.span, for: self) }
            report.isReadable = connection.closure == nil
        }

        func received(text: Span<UInt8>) { report.take(message: text) }

        func received(pong: Span<UInt8>) { report.pongs.append((0..<pong.count).map { pong[$0] }) }
    }

    /// Opens the inbox that all inputs of a process share, and removes its file immediately.
    private static func openInbox() -> AgentDatabase? {
        let path = "\(ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp")/agent-stream-\(UUID().uuidString).sqlite"
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        let database = try? AgentDatabase(path: path)
        try? database?.apps.save(
            RegisteredApp(
                appID: "org.example.Mail", topic: "org.example.Mail", name: "Mail", icon: nil,
                deviceToken: String(repeating: "ab", count: 32)))
        return database
    }

    // Safety: the fuzzer has one thread, and tests that replay its inputs are serialized.
    private nonisolated(unsafe) static let inbox = openInbox()

    /// Checks that each notification is counted once and each sequence number is acknowledged.
    private static func receptionFailure(_ arrivals: [Arrival]) -> String? {
        guard !arrivals.isEmpty else { return nil }
        guard let database = unsafe inbox else { return "The inbox cannot be opened." }
        var clock = ServerClock()
        for case .notification(let one) in arrivals {
            clock.note(acceptedAt: one.acceptedAt, atElapsedMilliseconds: 1000)
        }
        do {
            let reception = try Receiver(database).receive(
                arrivals, now: Timestamp(unixMilliseconds: 1_795_295_709_000),
                serverNow: clock.time(atElapsedMilliseconds: 1000))
            if reception.newCount + reception.repeatedCount > arrivals.count { return "More came than was sent." }
            let again = try Receiver(database).receive(arrivals, now: Timestamp(unixMilliseconds: 1_795_295_709_001))
            if again.newCount != 0 { return "An earlier notification arrived as new." }
            let acknowledged = Set(try database.outbox.oldest(countMax: 1000)?.acknowledgements.map(\.id) ?? [])
            try database.outbox.removeAll()
            let sequences = arrivals.map { arrival in
                switch arrival {
                case .notification(let one): one.sequence
                case .unreadable(let sequence): sequence
                }
            }
            return sequences.allSatisfy { $0 <= 0 || acknowledged.contains($0) } ? nil : "One is not acknowledged."
        } catch {
            return "The inbox refuses: \(error)"
        }
    }
}
