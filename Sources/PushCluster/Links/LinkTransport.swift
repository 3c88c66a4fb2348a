// SPDX-License-Identifier: Apache-2.0

/// The connection of a link, which either of its nodes has opened.
protocol LinkTransport: AnyObject {
    /// The number of bytes that were sent and that the socket has not accepted yet.
    var waitingByteCount: Int { get }
    /// Sends packets in order, after those that wait.
    func send(_ packets: [[UInt8]])
    /// Closes the connection; its end is not reported any more.
    func close(_ reason: String)
}
