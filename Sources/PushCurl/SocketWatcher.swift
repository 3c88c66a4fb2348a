// SPDX-License-Identifier: Apache-2.0

/// What a loop does for `MultiClient`: watch a socket, keep one timer.
///
/// Lets PushCurl know nothing of PushNet. /// The client keeps its watcher, so the watcher must refer to the client weakly.
package protocol SocketWatcher: AnyObject {
    /// Replaces what the socket is watched for; neither means: stop watching.
    ///
    /// libcurl may have closed the socket by then, and its number may be another file's: watch a duplicate.
    func watch(_ socket: Int32, readable: Bool, writable: Bool)
    /// One timer, which replaces the one before; nil cancels it. Must not fire before this call returns.
    func setTimer(after delay: Duration?)
}
