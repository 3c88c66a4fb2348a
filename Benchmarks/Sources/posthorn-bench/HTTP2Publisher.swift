// SPDX-License-Identifier: Apache-2.0

/// A publisher over HTTP/2: for posthornd, nghttpd and nchan.
final class HTTP2Publisher: HTTP2Connection {
    /// The parts of requests that all connections share.
    final class Requests {
        let blocks: HeaderBlocks
        /// The compressed `:path` of each topic.
        let paths: [[UInt8]]
        let expectedStatuses: Set<Int>
        /// The path and fields of a message to all devices.
        let broadcast: (path: String, fields: [Field])?

        init(
            authority: String, fields: [Field], paths: [String], expectedStatuses: Set<Int>,
            broadcast: (path: String, fields: [Field])?
        ) {
            blocks = HeaderBlocks(authority: authority, fields: fields)
            self.paths = HeaderBlocks.paths(paths)
            self.expectedStatuses = expectedStatuses
            self.broadcast = broadcast
        }
    }

    /// The size of the ring of sent times, larger than the number of streams that ever overtake one.
    private static let ringSize = 8192
    private let requests: Requests
    private var isFirst = true
    private var sentNanoseconds = [Int](repeating: 0, count: ringSize)

    init(_ loop: Loop, _ target: Target, _ number: Int, _ requests: Requests) {
        self.requests = requests
        super.init(loop, target, number: number)
    }

    override func send(_ payload: [UInt8], topic: Int) {
        let block = isFirst ? requests.blocks.first : requests.blocks.later
        isFirst = false
        note(request(head: block.head, path: requests.paths[topic], tail: block.tail, body: payload))
    }

    override func broadcast(_ payload: [UInt8]) {
        guard let broadcast = requests.broadcast else { return super.broadcast(payload) }
        let fields: [Field] = [
            (":method", "POST"), (":scheme", "https"), (":authority", target.authority), (":path", broadcast.path),
        ]
        note(request(head: HeaderBlocks.literal(fields + broadcast.fields), path: [], tail: [], body: payload))
    }

    private func note(_ stream: UInt32) {
        let index = Int(stream / 2) % Self.ringSize
        guard sentNanoseconds[index] == 0 else { fail("a stream was overtaken by \(Self.ringSize) others") }
        sentNanoseconds[index] = monotonicNanoseconds()
    }

    override func headersArrived(stream: UInt32, status: Int) {
        guard !requests.expectedStatuses.contains(status) else { return }
        unexpected = status
    }

    private var unexpected: Int?

    override func dataArrived(stream: UInt32, _ bytes: UnsafeRawBufferPointer) {
        if let unexpected { fail("status \(unexpected): \(String(decoding: bytes, as: UTF8.self))") }
    }

    override func streamEnded(_ stream: UInt32) {
        if let unexpected { fail("status \(unexpected)") }
        let index = Int(stream / 2) % Self.ringSize
        let sent = sentNanoseconds[index]
        sentNanoseconds[index] = 0
        load?.completed(self, sentNanoseconds: sent)
    }
}
