// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The replies for each loop, gathered so that each loop is woken once.
struct Outbox {
    private let receivers: [any StoreReplyReceiver]
    private var repliesByLoop: [[StoreReply]]

    init(receivers: [any StoreReplyReceiver]) {
        self.receivers = receivers
        repliesByLoop = Array(repeating: [], count: receivers.count)
    }

    /// Adds a reply for the loop of its address; drops it if the loop does not exist.
    mutating func add(_ reply: StoreReply, to address: ReplyAddress) {
        guard let loop = Int(exactly: address.loop), repliesByLoop.indices.contains(loop) else { return }
        repliesByLoop[loop].append(reply)
    }

    /// Delivers all replies, in the order in which they were added for each loop.
    mutating func handOut() {
        for loop in repliesByLoop.indices where !repliesByLoop[loop].isEmpty {
            receivers[loop].receive(repliesByLoop[loop])
            repliesByLoop[loop].removeAll(keepingCapacity: true)
        }
    }

    /// Sends a directory to all loops immediately, before any answer that depends on it.
    func publish(_ directory: Directory) {
        for receiver in receivers { receiver.receive([.directory(directory)]) }
    }
}
