// SPDX-License-Identifier: Apache-2.0

/// The callbacks of a session to its owner, made from inside `receive`, `collectOutput` and `close`.
///
/// An implementation may answer exchanges, but must not call the session's `receive`, `collectOutput` or `close`.
package protocol HTTPSessionDelegate: AnyObject {
    /// Handles a request with more fields than the limits allow; answer it, since no other callback follows for it.
    func headTooLarge(_ exchange: HTTPExchange)
    /// Handles the complete request fields: sets `bodyByteCountMax`, and may already `respond`.
    func headArrived(_ exchange: HTTPExchange)
    /// Handles a complete request, or one whose body overflowed; answer it now or later.
    ///
    /// The session calls this once, and never for an exchange that was answered in `headArrived`.
    ///
    /// - Parameter exchange: The exchange of the request.
    func requestArrived(_ exchange: HTTPExchange)
    /// Handles the end of an exchange (answered, reset, or the session ended); drop all references to it.
    ///
    /// The session calls this exactly once for each exchange that it passed to `headArrived`.
    ///
    /// - Parameter exchange: The ended exchange.
    func exchangeEnded(_ exchange: HTTPExchange)
}
