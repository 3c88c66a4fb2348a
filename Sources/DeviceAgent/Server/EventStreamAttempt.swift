// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushAPI
internal import PushCurl
internal import PushNet

/// The stream as server-sent events: one long response, over HTTP/2 if possible.
final class EventStreamAttempt: StreamAttempt {
    weak var delegate: (any StreamAttemptDelegate)?
    private let session: ServerSession
    private let needsFreshConnection: Bool
    private var transfer: TransferID?
    private var parser = EventStreamParser()
    private var isAnswered = false

    /// Creates an attempt; after a failure it needs a fresh connection, because libcurl's pooled one may be the one
    /// that failed.
    init(_ session: ServerSession, needsFreshConnection: Bool) {
        self.session = session
        self.needsFreshConnection = needsFreshConnection
    }

    var isProven: Bool { true }

    func begin() {
        var request = session.client.request("GET", "/v1/stream")
        request.fields.append(("accept", "text/event-stream"))
        request.timeout = nil
        request.needsFreshConnection = needsFreshConnection
        transfer = session.curl.start(
            request, onHead: { [weak self] in self?.receive(head: $0) }, onBody: { [weak self] in self?.receive($0) }
        ) { [weak self] in self?.finish($0) }
    }

    /// Returns false, because server-sent events have no ping; the server's heartbeat is all there is.
    func ping() -> Bool { false }

    /// Unknown, because libcurl does not tell which of its connections carries the response.
    var path: NetworkPath { .unknown }

    func cancel() {
        delegate = nil
        if let transfer { session.curl.cancel(transfer) }
        transfer = nil
    }

    private func receive(head: HTTPResponse) {
        delegate?.attemptReceivedData()
        let type = head.value(of: "content-type") ?? ""
        guard head.status == 200, type.utf8.starts(with: "text/event-stream".utf8) else { return }
        isAnswered = true
        delegate?.attemptOpened(heartbeat: head.value(of: Heartbeat.fieldText))
    }

    private func receive(_ bytes: Span<UInt8>) {
        delegate?.attemptReceivedData()
        guard isAnswered else { return }
        var arrivals: [Arrival] = []
        var isReadable = true
        do {
            try parser.receive(bytes) { event in
                if let arrival = take(event) { arrivals.append(arrival) }
            }
        } catch {
            isReadable = false
        }
        if !arrivals.isEmpty { delegate?.attemptReceived(arrivals) }
        if !isReadable { delegate?.attemptEnded(.failed(.init(.server, "the server sent an event that is too long"))) }
    }

    private func take(_ event: EventStreamEvent) -> Arrival? {
        guard case .event(let name, let id, let data) = event else { return nil }
        switch name {
        case NotificationEvent.name: return Arrival(notificationData: data, sequence: Int64(id))
        case StreamGoodbye.eventName: delegate?.attemptReceived(StreamGoodbye(data: data.span))
        default:
            // Another name is an event of a later server.
            if let notice = VersionNotice.Kind(rawValue: name).flatMap({ VersionNotice($0, data: data.span) }) {
                delegate?.attemptReceived(notice)
            }
        }
        return nil
    }

    private func finish(_ result: Result<HTTPResponse, CurlError>) {
        transfer = nil
        switch result {
        case .failure(let error): delegate?.attemptEnded(.failed(ConnectionFailure(error)))
        case .success(let response) where response.status == 401: delegate?.attemptEnded(.unauthorized)
        case .success where isAnswered: delegate?.attemptEnded(.closed)
        case .success(let response):
            delegate?.attemptEnded(.refused(status: response.status, retryAfter: response.value(of: "retry-after")))
        }
    }
}
