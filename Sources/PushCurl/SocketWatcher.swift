// SPDX-License-Identifier: Apache-2.0

/// The services of an event loop for `MultiClient`: watching sockets and running one timer.
///
/// The protocol keeps PushCurl independent of PushNet. The client retains its watcher, so the watcher must refer to the
/// client weakly.
package protocol SocketWatcher: AnyObject {
    /// Replaces the events that a socket is watched for; if both flags are false, stops watching.
    ///
    /// libcurl may have closed the socket by then, and another file may have its number: watch a duplicate.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - readable: Whether to watch for readability.
    ///   - writable: Whether to watch for writability.
    func watch(_ socket: Int32, readable: Bool, writable: Bool)
    /// Sets the one timer, replacing the previous one, or cancels it with nil; it must not fire before this function
    /// returns.
    func setTimer(after delay: Duration?)
}
