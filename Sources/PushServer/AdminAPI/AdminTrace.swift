// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore

/// `/v1/trace`: the history of notifications.
struct AdminTrace: AdminResource {
    let services: LoopServices
    let takesParameters = true

    /// A problem with the parameters, in one sentence.
    private struct BadTraceParameter: Error {
        let detail: String
    }

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        guard rest.isEmpty else { return AdminAnswer.refusePath(exchange) }
        guard exchange.method == .get else { return AdminAnswer.refuseMethod(exchange, allowed: "GET") }
        let query: TraceQuery
        do throws(BadTraceParameter) { query = try Self.query(parameters) } catch {
            return ControlAnswer.refuse(exchange, status: 400, "BadParameter", error.detail)
        }
        let isNotification = if case .notification = query.subject { true } else { false }
        let services = services
        perform(.allDevices(.trace(query)), exchange, connection) { answer, exchange in
            guard case .trace(let findings) = answer else { return }
            guard !isNotification || !findings.entries.isEmpty else {
                return ControlAnswer.refuse(
                    exchange, status: 404, "UnknownNotification",
                    "The trace has no notification with this apns-id or apns-unique-id: this server did not accept it, or "
                        + "its history was deleted.")
            }
            ControlAnswer.send(
                exchange,
                TraceAPI.Trace(
                    events: findings.entries.map { TraceAPI.Event($0, services.directory) },
                    next: findings.isMore && !isNotification ? findings.next : nil,
                    hasEarlier: findings.hasEarlier ? true : nil, oldestAt: findings.oldestAt))
        }
    }

    private static func query(_ parameters: [AdminTarget.Parameter]) throws(BadTraceParameter) -> TraceQuery {
        var subjects: [TraceQuery.Subject] = []
        var query = TraceQuery(.app(topic: ""), countMax: 100, isNewest: true)
        for parameter in parameters {
            switch parameter.name {
            case "id":
                guard let id = UniqueID(parameter.value.utf8.span) else {
                    throw BadTraceParameter(
                        detail: "Invalid id: use the apns-id or apns-unique-id of a response, a UUID.")
                }
                subjects.append(.notification(id))
            case "device":
                guard let device = DeviceID(text: parameter.value) else {
                    throw BadTraceParameter(detail: "Invalid device ID: use 16 lower-case hexadecimal digits.")
                }
                subjects.append(.device(device))
            case "app": subjects.append(.app(topic: TopicName(parameter.value)))
            case "since": query.since = Timestamp(unixMilliseconds: try number(parameter, 0...Int64.max))
            case "after":
                query.after = try number(parameter, 0...Int64.max)
                query.isNewest = false
            case "limit":
                query.countMax = Int(try number(parameter, 1...Int64(Limits.traceAnswerCountMax)))
            default:
                throw BadTraceParameter(
                    detail: "Unknown parameter. Allowed: id, device or app, and since, after and limit.")
            }
        }
        guard subjects.count == 1 else { throw BadTraceParameter(detail: "Specify one of id, device and app.") }
        query.subject = subjects[0]
        if case .notification = query.subject { query.isNewest = false }
        return query
    }

    private static func number(
        _ parameter: AdminTarget.Parameter, _ range: ClosedRange<Int64>
    ) throws(BadTraceParameter) -> Int64 {
        guard let number = Int64(parameter.value), range.contains(number) else {
            throw BadTraceParameter(
                detail: "\(parameter.name) must be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}

extension TraceAPI.Event {
    /// Creates the view of an event for administrators.
    fileprivate init(_ entry: TraceEntry, _ directory: TopicDirectory) {
        let event = entry.event
        self.init(
            event: event.step.word, reason: event.detail.word, at: event.at, sequence: event.sequence,
            deviceID: event.device.rawValue == 0 ? nil : event.device.text,
            topic: entry.origin.flatMap { directory.topic($0.topic)?.topic.name }, apnsID: entry.origin?.apnsIDText,
            apnsUniqueID: entry.origin?.uniqueID.text)
    }
}
