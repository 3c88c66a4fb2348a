// SPDX-License-Identifier: Apache-2.0

/// A session of HTTP/1.1 or HTTP/2, whose exchanges are requests with their responses.
package protocol HTTPSession: ConnectionSession {
    /// A copy of the open exchanges, in no particular order; they may be answered during the iteration.
    var openExchanges: [HTTPExchange] { get }
    /// Returns the open exchange with this identifier, for a late answer.
    func exchange(_ id: Int32) -> HTTPExchange?
    /// Tells the peer to open no more streams and why (GOAWAY with debug data; `connection: close`); open exchanges
    /// continue.
    func announceShutdown(debugData: [UInt8])
    /// Sets the number of allowed streams, and announces it if the peer knows another number (HTTP/2 only).
    ///
    /// Before the first call, at most `HTTPBounds.streamCountBeforeAuthentication` streams are open at the same time.
    ///
    /// - Parameter count: The number of streams that may be open at the same time.
    func advertiseStreams(_ count: Int)
    /// Ends everything that timed out by `now`; the owner calls it about once a second.
    func tick()
    /// Whether the open request may be answered by a switch to another protocol (HTTP/1.1 only).
    var upgradeReadiness: UpgradeReadiness { get }
    /// Answers the open request with 101 and ends the session; nil, without any change, unless it is ready for that.
    func switchProtocols() -> (output: [UInt8], input: [UInt8])?
}

extension HTTPSession {
    package var upgradeReadiness: UpgradeReadiness { .unavailable }
    package func switchProtocols() -> (output: [UInt8], input: [UInt8])? { nil }
}
