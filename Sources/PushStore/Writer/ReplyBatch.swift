// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The replies for each loop, collected so that each loop is woken once.
struct ReplyBatch {
    private let receivers: [any StoreReplyReceiver]
    private var repliesByLoop: [[StoreReply]]
    /// The answers to accepted notifications and broadcasts.
    private var acceptancesByLoop: [[StoreReply]]
    /// The loops with hosts on which a stream was opened, so that something may be on its way to them.
    private var loopsWithStreams: Set<UInt32> = []

    init(receivers: [any StoreReplyReceiver]) {
        self.receivers = receivers
        repliesByLoop = Array(repeating: [], count: receivers.count)
        acceptancesByLoop = repliesByLoop
    }

    /// Adds a reply for the loop of its address; drops it if the loop does not exist.
    mutating func add(_ reply: StoreReply, to address: ReplyAddress) {
        guard let loop = Int(exactly: address.loop), repliesByLoop.indices.contains(loop) else { return }
        repliesByLoop[loop].append(reply)
    }

    /// Adds a reply for the loop of the address that it contains.
    mutating func add(_ reply: StoreReply) {
        switch reply {
        case .accepted(let address), .refused(_, _, let address), .attached(_, let address),
            .deliver(_, let address), .ended(_, let address), .performed(_, let address):
            add(reply, to: address)
        case .directory(let directory): publish(directory)
        case .broadcast, .host: preconditionFailure("only a host delivers broadcasts to several streams")
        }
    }

    /// Adds a message for the host of a loop.
    mutating func add(_ message: HostReply, toHostOf loop: UInt32) { repliesByLoop[Int(loop)].append(.host(message)) }

    /// Notes that a stream was opened on a loop.
    mutating func noteStream(on loop: UInt32) {
        if hasHost(loop) { loopsWithStreams.insert(loop) }
    }

    /// Adds an answer that passes through all hosts, so that each has delivered what was sent to it before.
    mutating func relay(_ result: StoreAnswer, to answer: ReplyAddress) {
        let hosts = loopsWithStreams.sorted()
        guard let first = hosts.first else { return self.answer(result, answer) }
        add(.relayed(result, answer: answer, via: hosts.dropFirst()), toHostOf: first)
    }

    /// Returns whether a loop has a host.
    func hasHost(_ loop: UInt32) -> Bool {
        receivers.indices.contains(Int(loop)) && receivers[Int(loop)].hasHost
    }

    // MARK: Answers

    /// Accepts a notification or a broadcast.
    mutating func accept(_ address: ReplyAddress) {
        guard let loop = Int(exactly: address.loop), acceptancesByLoop.indices.contains(loop) else { return }
        acceptancesByLoop[loop].append(.accepted(answer: address))
    }

    /// Refuses a notification or a broadcast because of overload or missing space.
    mutating func shed(_ address: ReplyAddress) {
        refuse(.serviceUnavailable, endedAt: nil, address)
    }

    /// Refuses a notification.
    mutating func refuse(_ reason: RejectionReason, endedAt: Timestamp?, _ address: ReplyAddress) {
        add(.refused(reason, unregisteredAt: endedAt, answer: address), to: address)
    }

    /// Refuses a request, or a stream.
    mutating func refuse(_ refusal: StoreRefusal, _ address: ReplyAddress) {
        add(.performed(.failure(refusal), answer: address), to: address)
    }

    /// Answers a request that succeeded.
    mutating func answer(_ answer: StoreAnswer, _ address: ReplyAddress) {
        add(.performed(.success(answer), answer: address), to: address)
    }

    // MARK: Delivery

    /// Delivers all replies: those for each loop in the order in which they were added, then all acceptances.
    ///
    /// A broadcast is thus with all hosts before its provider has the answer. They deliver it before any notification
    /// that the provider sends after the answer.
    mutating func send() {
        for loop in receivers.indices { send(&repliesByLoop[loop], to: receivers[loop]) }
        for loop in receivers.indices { send(&acceptancesByLoop[loop], to: receivers[loop]) }
    }

    private func send(_ replies: inout [StoreReply], to receiver: any StoreReplyReceiver) {
        guard !replies.isEmpty else { return }
        receiver.receive(replies)
        replies.removeAll(keepingCapacity: true)
    }

    /// Sends a directory to all loops immediately, before any answer that depends on it.
    func publish(_ directory: Directory) {
        for receiver in receivers { receiver.receive([.directory(directory)]) }
    }
}
