// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushAPI
import PushCore
import PushSQLite
@testable import PushStore
import TestSupport
import Testing

@Suite struct OverloadTests {
    @Test func `a full command queue refuses notifications and broadcasts, and accepts requests`() throws {
        // While the store delivers an answer, it takes no commands. The barrier stops it there until the queue is full.
        let store = try TestStore()
        let first = store.address()
        let barrier = store.collectors[0].stop(at: first)
        store.store.submit([.perform(.control(.apps), answer: first)])
        barrier.reached.wait()
        let nowhere = DeviceTokenContents(device: DeviceID(rawValue: 9), topic: TopicID(rawValue: 9), generation: 1)
        let bound = 65_536
        store.store.submit((0..<bound - 1).map { _ in .accept(.to(nowhere, ""), answer: store.address()) })
        let channel = TestChannel(id: ChannelID(high: 0, low: 0), topic: nowhere.topic)
        store.store.submit(
            (0..<10).map { _ in .accept(.to(nowhere, ""), answer: store.address()) }
                + [.publish(.to(channel, ""), answer: store.address())])
        let request = store.address()
        store.store.submit([.perform(.control(.apps), answer: request)])
        barrier.goOn.signal()
        let replies = try store.run([])
        #expect(replies.count { $0.refusal == .badDeviceToken } == bound)
        #expect(replies.count { $0.refusal == .serviceUnavailable } == 10)
        #expect(replies.contains { $0.answers(request) })
    }

    @Test func `a command that SQLite refuses does not affect the others in its batch`() throws {
        let directory = try TemporaryDirectory()
        let store = try TestStore(in: directory)
        let (device, token) = try store.registeredDevice()
        store.store.stop()
        try Connection(path: store.path, durability: .full, exclusive: true).execute(
            """
            CREATE TRIGGER poison BEFORE INSERT ON pending WHEN instr(NEW.record, CAST('poison' AS BLOB)) > 0
            BEGIN SELECT RAISE(ABORT, 'poisoned'); END
            """)
        try store.reopen()
        let (stream, _) = try store.attach(device)
        let (answers, replies) = try store.accept([
            .to(token, "a", collapseID: "x"), .to(token, "poison"), .to(token, "b"),
        ])
        #expect(answers == [.accepted, .refused(.serviceUnavailable, ended: nil), .accepted])
        #expect(replies.delivered(to: stream).map(\.text) == ["a", "b"])
        let counts = try store.counts()
        #expect(counts.accepted == 2 && counts.pending == 2 && counts.collapsed == 0)
        #expect(store.fatal.all.isEmpty)
    }
}

extension StoreReply {
    /// The reason for which a notification was refused; nil for other replies.
    fileprivate var refusal: RejectionReason? {
        if case .refused(let reason, _, _) = self { reason } else { nil }
    }
}
