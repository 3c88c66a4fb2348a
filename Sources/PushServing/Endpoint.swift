// SPDX-License-Identifier: Apache-2.0

package import PushHTTP
package import PushStore

/// Answers the requests that arrive through a listener.
package protocol Endpoint: AnyObject {
    /// Creates the endpoint's own state for a new connection, which is `ServerConnection.context`; nil if it has none.
    func connectionOpened(_ connection: ServerConnection) -> AnyObject?
    /// Answers a request whose fields exceed a limit.
    func headTooLarge(_ exchange: HTTPExchange)
    /// Handles a request whose header fields have arrived; returns how many bytes of its body to keep.
    func headArrived(_ exchange: HTTPExchange, on connection: ServerConnection) -> Int
    /// Answers a complete request, immediately or when the store has answered.
    func answer(_ exchange: HTTPExchange, on connection: ServerConnection)
    /// Authenticates the connection by the header fields of a request whose body is missing, if they prove a
    /// credential.
    func recognize(_ exchange: HTTPExchange, on connection: ServerConnection)
    /// Answers a request on a connection that is closing because its peer exceeded a limit.
    func refuseWhileClosing(_ exchange: HTTPExchange)
    /// Answers a request that waited too long for its own end or for the store.
    func answerTimedOut(_ exchange: HTTPExchange)
    /// Ends an exchange whose peer sends no more, if it is a stream; returns whether it is.
    func endStream(_ exchange: HTTPExchange, on connection: ServerConnection) -> Bool
    /// Notes the end of an exchange: its answer was sent, or it was reset.
    func exchangeEnded(_ exchange: HTTPExchange, on connection: ServerConnection)
    /// Returns the text for a peer whose connection ends, such as the debug data of GOAWAY.
    func goodbye(_ reason: GoodbyeReason) -> [UInt8]
}

extension Endpoint {
    package func connectionOpened(_ connection: ServerConnection) -> AnyObject? { nil }
    package func headTooLarge(_ exchange: HTTPExchange) { exchange.respond(status: 431) }
    package func recognize(_ exchange: HTTPExchange, on connection: ServerConnection) {}
    package func endStream(_ exchange: HTTPExchange, on connection: ServerConnection) -> Bool { false }
    package func exchangeEnded(_ exchange: HTTPExchange, on connection: ServerConnection) {}
    package func goodbye(_ reason: GoodbyeReason) -> [UInt8] { [] }
}

/// The part of a loop's work that belongs to the APIs, on the loop's thread.
package protocol LoopDelegate: AnyObject {
    /// Creates the endpoint of a listener.
    func makeEndpoint(_ kind: ListenerKind) -> any Endpoint
    /// Handles a reply of the store.
    func take(_ reply: StoreReply)
    /// Sends what is due; called once a second.
    func tick()
    /// Reads the settings of the APIs again.
    func settingsChanged()
    /// Ends long answers, because the server shuts down.
    func shutDown()
}

/// The kind of peer that connects to a listener.
package enum ListenerKind: Sendable, Hashable {
    /// Providers and devices, over TLS, on the port with this index in the configuration.
    case network(port: Int)
    /// Administrators, over a UNIX socket.
    case admin
    /// Monitoring systems, over TCP without TLS.
    case metrics

    /// Whether the peers are providers and devices, whose connections begin with TLS and are limited together.
    var isNetwork: Bool {
        switch self {
        case .network: true
        case .admin, .metrics: false
        }
    }
}
