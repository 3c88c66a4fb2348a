// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet

/// One attempt at the stream, in one of its forms, from connecting to its end.
///
/// Used once.
protocol StreamAttempt: AnyObject {
    /// The receiver of the attempt's events; not retained.
    var delegate: (any StreamAttemptDelegate)? { get set }
    /// Whether this form is known to pass every proxy on the way: a whole frame or event arrived, or the form needs no
    /// proof.
    var isProven: Bool { get }
    /// Starts to connect.
    func begin()
    /// Sends a ping that is answered immediately; returns false if this form has none.
    func ping() -> Bool
    /// The network path of new packets, compared with that of this connection's packets.
    var path: NetworkPath { get }
    /// Ends the attempt without calling the delegate again.
    func cancel()
}

/// Receives the events of an attempt, and may cancel it at any time.
protocol StreamAttemptDelegate: AnyObject {
    /// Called when bytes arrive, which proves that the connection is alive.
    func attemptReceivedData()
    /// Called when something was sent that will be answered.
    func attemptExpectsAnswer()
    /// Called when the stream is open, with the server's heartbeat interval if it names one.
    func attemptOpened(heartbeat: String?)
    /// Called when notifications arrive.
    func attemptReceived(_ arrivals: [Arrival])
    /// Called when the server announces the version of its policies or of its authorities.
    func attemptReceived(_ notice: VersionNotice)
    /// Called when the server gives the reason why it is about to end the stream.
    func attemptReceived(_ goodbye: StreamGoodbye)
    /// Called when the attempt has ended.
    func attemptEnded(_ ending: StreamEnding)
}

/// The reason why an attempt ended, unless it was canceled.
enum StreamEnding: Equatable {
    /// The server does not know the device's secret.
    case unauthorized
    /// The server, or a proxy in front of it, does not support this form of the stream.
    case unsupported(String)
    /// No valid response arrived.
    ///
    /// The server may have crashed, or a proxy blocks this form.
    case broken(String)
    /// The server refused the stream temporarily.
    case refused(status: Int, retryAfter: String?)
    /// The stream was open, and the server ended it.
    case closed
    /// The connection failed, or the received data is invalid.
    case failed(ConnectionFailure)
}

/// The form in which the agent requests the stream.
package enum StreamForm: String, CaseIterable, Sendable {
    /// WebSocket, with a fallback to server-sent events.
    case auto
    /// WebSocket only, without a fallback.
    case websocket
    /// Server-sent events only.
    case events
}

extension Arrival {
    /// Parses the data of a notification; nil if it is invalid and has no sequence number to acknowledge.
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
