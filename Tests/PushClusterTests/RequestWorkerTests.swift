// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushAPI
import PushCore
import PushNet
import PushPostgres
import PushStore
import TestSupport
import Testing

@testable import PushCluster

struct RequestWorkerTests {
    @Test func `a worker that cannot connect to PostgreSQL stops although its job would wait for hours`() throws {
        let store = StoreConfiguration(path: "") { .now }
        // No server listens there.
        var configuration = PostgresStoreConfiguration(
            address: try PostgresAddress("postgresql://127.0.0.1:1/posthorn"), node: "test", version: "1",
            store: store)
        configuration.patienceMilliseconds = 3_600_000
        let outcomes = Lock<[RequestWorker.Outcome]>([])
        let worker = RequestWorker(
            configuration, InstanceID(rawValue: 0), StoreBounds(store), Lock(SlotMap(shardCount: 1)),
            ShardDatabases(numbers: [nil]), patientShards: 0..<1
        ) { outcome in outcomes.withLock { $0.append(outcome) } }
        for number: Int32 in 0..<3 {
            let answer = ReplyAddress(loop: 0, slot: 0, generation: 0, exchange: number)
            #expect(worker.submit(.perform(.control(.apps), answer: answer)))
        }
        worker.close(waitingFor: 0)
        worker.join()
        #expect(outcomes.withLock { $0.count } == 3)
    }

    @Test(.needsPostgres) func `an idle worker repeats its first request after a restart of PostgreSQL`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres, name: "idle")
        let device = try node.registeredDevice()
        for _ in 0..<3 {
            _ = try await postgres.sql(
                """
                SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'posthornd idle'
                """)
            try node.succeed(.device(.setFilter(refusedTopics: [TestNode.topic]), by: device.credential))
            try node.succeed(.control(.app(topic: TestNode.topic)))
        }
    }

    @Test(.needsPostgres)
    func `a request that may be committed is not repeated, and its device reads no message of PostgreSQL`()
        async throws
    {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        _ = try await postgres.sql(
            """
            CREATE SEQUENCE attempts;
            CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM nextval('attempts'), pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER fails AFTER INSERT ON filters DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION fail()
            """)
        let result = try node.perform(
            .device(.setFilter(refusedTopics: [TestNode.topic]), by: device.credential))
        guard case .failure(.unavailable(let text)) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(text == "its database did not perform the request")
        #expect(try await postgres.sql("SELECT last_value FROM attempts") == "1")
    }

    @Test(.needsPostgres) func `a long request of a device does not delay the requests of others until its end`()
        async throws
    {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        // The first bytes of their secrets' hashes are odd, so one worker performs the requests of both.
        let (busy, other) = (try node.registeredDevice(1), try node.registeredDevice(3))
        let topics = (0..<Limits.filterTopicCountMax).map { TopicName("com.example.T\($0)") }
        let (long, short) = (node.address(), node.address())
        node.store.submit([
            .perform(.device(.setFilter(refusedTopics: topics), by: busy.credential), answer: long),
            .perform(.device(.policy, by: other.credential), answer: short),
        ])
        var answers: [ReplyAddress] = []
        while answers.count < 2 {
            answers.append(
                try node.replies.first("an answer") { reply in
                    guard case .performed(.success, let answer) = reply else { return nil }
                    return answer == long || answer == short ? answer : nil
                })
        }
        #expect(answers == [short, long])
        #expect(try await postgres.sql("SELECT count(*) FROM filters") == "\(topics.count)")
    }
}
