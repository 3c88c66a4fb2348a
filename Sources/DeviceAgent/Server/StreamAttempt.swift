// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// One attempt at the stream, in one of its forms, from connecting to its end; used once.
protocol StreamAttempt: AnyObject {
    /// Gets what comes of it; not retained.
    var delegate: (any StreamAttemptDelegate)? { get set }
    /// Whether a whole frame or event, or less than that in a form that every proxy lets through, came on it.
    var isProven: Bool { get }
    /// Connects.
    func begin()
    /// Sends something that is answered at once; false where there is no such thing.
    func ask() -> Bool
    /// How packets would leave now, beside how those of this connection do.
    var path: NetworkPath { get }
    /// Ends it without a word: the delegate hears nothing more.
    func cancel()
}

/// Gets what comes of an attempt; may cancel it at any time.
protocol StreamAttemptDelegate: AnyObject {
    /// Bytes came, so the connection lives.
    func attemptHeard()
    /// Something went out that will be answered.
    func attemptAsked()
    /// The stream is open; a server that knows of heartbeats says how often they come.
    func attemptOpened(heartbeat: String?)
    /// Notifications came.
    func attemptReceived(_ arrivals: [Arrival])
    /// The server says which version its policies have.
    func attemptHeard(_ notice: PolicyNotice)
    /// The server says why it is about to end the stream.
    func attemptHeard(_ goodbye: StreamGoodbye)
    /// It is over.
    func attemptEnded(_ ending: StreamEnding)
}

/// How an attempt ended by itself.
enum StreamEnding: Equatable {
    /// The server does not know our secret.
    case unauthorized
    /// The server, or something before it, has no stream in this form.
    case unsupported(String)
    /// Something that is no answer came, or none: a server that fell over, or a proxy that does not let this form through.
    case broken(String)
    /// The server refused for now.
    case refused(status: Int, retryAfter: String?)
    /// It was open, and the server ended it.
    case closed
    /// The connection failed, or what came cannot be read.
    case failed(String)
}

/// In which form the agent asks for the stream.
package enum StreamForm: String, CaseIterable, Sendable {
    /// WebSocket, and server-sent events where that does not work.
    case auto
    /// WebSocket only.
    case websocket
    /// Server-sent events only.
    case events
}

extension Arrival {
    /// Reads the data of a notification; nil when it cannot be read and has no number to acknowledge it by.
    init?(notificationData data: [UInt8], sequence: Int64?) {
        do {
            self = .notification(try NotificationEvent.decode(data: data))
        } catch {
            agentLog.warning("notification_unreadable", ["error": "\(error)", "id": sequence.map(String.init) ?? ""])
            guard let sequence else { return nil }
            self = .unreadable(sequence: sequence)
        }
    }
}
