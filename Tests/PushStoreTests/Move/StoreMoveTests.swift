// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushPostgres
import PushSQL
import PushSQLite
@testable import PushStore
import TestSupport
import Testing

@Suite(.needsPostgres) struct StoreMoveTests {
    private let fixture: PostgresFixture
    private let files: TemporaryDirectory

    init() async throws {
        fixture = try await PostgresFixture()
        files = try TemporaryDirectory()
    }

    private func move() throws -> StoreMove { try StoreMove(PostgresAddress(fixture.address), schema: fixture.schema) }

    /// Closes a store and copies it to PostgreSQL.
    @discardableResult
    private func copy(_ store: TestStore) throws -> StoreMove.Report {
        store.store.stop()
        return try move().copyToPostgres(from: store.path)
    }

    // MARK: There and back

    @Test(.tags(.slow), arguments: 0..<Patience.caseCount)
    func `a store there and back gives the same answers and has the same notifications`(seed: Int) throws {
        let first = try TestStore()
        let tokens = try fill(first, seed: UInt64(seed))
        try first.reopen()
        let (day, now) = (Int64(86_400_000), first.clock.now)
        let expected = try StoreContents(first, at: now + day)
        try copy(first)
        let traces = try traces(first.path)
        let postgres = try PostgresTestStore(fixture)
        let found = try StoreContents(postgres, at: now + day)
        #expect(found == expected, "seed \(seed): \(found.difference(from: expected))")

        // A node makes numbers of the time.
        postgres.lastID = NotificationIDLayout.least(at: 1_790_000_000_000)
        for (number, token) in tokens.enumerated() {
            let collapseID = number % 2 == 0 ? "c" : nil
            try postgres.accept(.to(token, "on a node \(number)", collapseID: collapseID, accepted: now))
        }
        let path = files.path(of: "back.sqlite")
        let between = try StoreContents(postgres, at: now + 2 * day)
        _ = try move().copyToSQLite(at: path)
        #expect(try StoreCheck(path: path).problems == [])
        #expect(try self.traces(path) == traces, "seed \(seed)")
        let last = try StoreContents(try TestStore(path: path), at: now + 2 * day)
        #expect(last == between, "seed \(seed): \(last.difference(from: between))")
    }

    /// Performs random requests, and sends, delivers and acknowledges notifications; returns the device tokens.
    private func fill(_ store: TestStore, seed: UInt64) throws -> [DeviceTokenContents] {
        var random = RandomRequests(seed: seed)
        var tokens: [DeviceTokenContents] = []
        for step in 0..<300 {
            store.clock.now += random.nextPause() / 100
            switch step % 8 {
            case 7: try store.publish(random.nextBroadcast(TopicID(rawValue: UInt32(step % 3 + 1)), "to all \(step)"))
            case 3, 5:
                guard let token = random.nextToken(of: tokens) else { continue }
                let notification = Notification.to(
                    token, "\(step)", expiration: step % 3 == 0 ? 1_900_000_000 : nil,
                    collapseID: step % 5 == 0 ? "c" : nil, accepted: store.clock.now)
                try store.accept(notification.identified(UInt64(step)))
            case 6 where step % 32 == 6:
                let device = TestDevice(number: UInt64(step / 32 % 5 + 1))
                let (stream, replies) = try store.attach(device)
                let sequences = replies.delivered(to: stream).map(\.sequence)
                _ = try store.acknowledge(device, Array(sequences.prefix(2)))
                _ = try store.run([.detach(stream: stream)])
            default:
                if case .success(.registered(let token)) = try store.perform(random.next()) { tokens.append(token) }
            }
        }
        return tokens
    }

    /// Returns the events of all apps, those that each webhook has not received, and the delivery histories.
    private func traces(_ path: String) throws -> [[String]] {
        let file = try Connection(path: path, durability: .full, exclusive: true)
        let webhooks = try WebhookTable(file).all()
        let topics = try TopicTable(file).all()
        let table = try TraceTable(file)
        var events: [String] = []
        var unread = Array(repeating: [String](), count: topics.count)
        try table.forEachRow(from: 0) { row in
            var offset = 0
            while let event = TraceEvent(row.events.span, at: &offset) {
                events.append("\(event)")
                for (index, topic) in topics.enumerated() {
                    guard let webhook = webhooks[topic.topic.id] else { continue }
                    if row.position + Int64(offset) > webhook.position { unread[index].append("\(event)") }
                }
            }
            return true
        }
        let select = try file.prepare("SELECT device || hex(entries) FROM delivery_histories ORDER BY device")
        var histories: [String] = []
        while try select.step() { histories.append(select.string(0)) }
        return [events, histories] + unread
    }

    @Test func `what PostgreSQL holds in many rows arrives in several transactions`() async throws {
        _ = try PostgresTestStore(fixture)
        _ = try await fixture.sql(
            "INSERT INTO policies SELECT n, 'a', 'b', 'c', 1 FROM generate_series(1, 20001) AS n")
        let path = files.path(of: "back.sqlite")
        #expect(try move().copyToSQLite(at: path).rowCount("policies") == 20_001)
        let file = try Connection(path: path, durability: .full, exclusive: true)
        let count = try file.prepare("SELECT count(*), sum(device) FROM policies")
        #expect(try count.step() && count.int64(0) == 20_001 && count.int64(1) == 20_001 * 20_002 / 2)
    }

    @Test func `a copied notification is replaced by its collapse ID, and expires`() throws {
        let first = try TestStore()
        let (device, token) = try first.registeredDevice()
        let end = TestStore.startMilliseconds / 1000 + 100
        try first.accept(.to(token, "one", collapseID: "c"))
        try first.accept(.to(token, "two", collapseID: "d"))
        try first.accept(.to(token, "brief", expiration: end))
        try copy(first)
        let postgres = try PostgresTestStore(fixture)
        postgres.lastID = NotificationIDLayout.least(at: 1_790_000_000_000)
        try postgres.accept(.to(token, "one again", collapseID: "c"))
        #expect(try postgres.waiting(device) == ["two", "brief", "one again"])
        let ends = try postgres.connection.prepare("SELECT min(expires_at_ms), max(expires_at_ms) FROM pending")
        let retentionEnd = TestStore.startMilliseconds + Limits.retentionSecondsMax * 1000
        #expect(try ends.step() && ends.int64(0) == end * 1000 && ends.int64(1) == retentionEnd)
        ends.reset()

        let path = files.path(of: "back.sqlite")
        _ = try move().copyToSQLite(at: path)
        let back = try TestStore(path: path)
        try back.accept(.to(token, "two again", collapseID: "d"))
        #expect(try back.waiting(device) == ["brief", "one again", "two again"])
        back.clock.now = (end + 1) * 1000
        #expect(try back.waiting(device) == ["one again", "two again"])
    }

    // MARK: Numbers

    @Test func `numbers of apps, channels and notifications continue after a gap in both directions`() throws {
        let first = try TestStore()
        let station = try Station(first)
        _ = try station.channel()
        try first.accept(.to(station.token, "a"))
        try copy(first)
        let postgres = try PostgresTestStore(fixture)
        try postgres.addBroadcastApp("b")
        let (device, b) = (try postgres.enrol(2), TopicName("b"))
        #expect(try postgres.register(device, b).topic == TopicID(rawValue: 1 + 1024 + 1))
        try postgres.succeed(
            .control(
                .createChannel(
                    ChannelID(high: 1, low: 1), topic: b, environment: .production, policy: .noMessageStored)))
        let numbers = try postgres.connection.prepare("SELECT max(number) FROM channels")
        #expect(try numbers.step() && numbers.int64(0) == 1 + 1024 + 1)
        numbers.reset()

        let path = files.path(of: "back.sqlite")
        _ = try move().copyToSQLite(at: path)
        let back = try TestStore(path: path)
        try back.addApp("c")
        #expect(try back.register(device, "c").topic == TopicID(rawValue: 1 + 2 * (1024 + 1)))
        let old = try back.attach(station.device)
        try back.accept(.to(station.token, "b"))
        let (stream, replies) = try back.attach(station.device)
        let sequences = replies.delivered(to: stream).map(\.sequence)
        #expect(old.1.delivered(to: old.0).map(\.sequence) == [sequences[0]] && sequences.count == 2)
        // The file continues after every number that a node may have made until now.
        #expect(sequences[1] > NotificationIDLayout.least(at: 1_790_000_000_000) && sequences[0] < 1 << 40)
        #expect(try back.acknowledge(station.device, sequences).count > 0)
        #expect(try back.waiting(station.device) == [])
    }

    @Test func `a store whose numbers are ahead of PostgreSQL's clock is refused until the time has come`() throws {
        let store = try TestStore()
        store.store.stop()
        try change(store.path, "UPDATE state SET value = 1 << 61 WHERE name = 'last_sequence'")
        let error = #expect(throws: StoreMoveError.self) { try move().copyToPostgres(from: store.path) }
        guard case .aheadOfClock(store.path, let seconds)? = error else {
            throw MissingReply(what: "aheadOfClock, not \(error as Any)")
        }
        #expect(seconds > 86_400)
        try change(store.path, "UPDATE state SET value = 1 << 50 WHERE name = 'last_sequence'")
        _ = try move().copyToPostgres(from: store.path)
    }

    @Test func `numbers that are too large for SQLite are refused`() async throws {
        _ = try PostgresTestStore(fixture)
        try await addNode("n1", seenAt: "'yesterday'", ceiling: Int64.max / 2)
        let error = #expect(throws: StoreMoveError.self) { try move().copyToSQLite(at: files.path(of: "a.sqlite")) }
        guard case .outOfNumbers? = error else { throw MissingReply(what: "outOfNumbers, not \(error as Any)") }
    }

    private func addNode(_ name: String, seenAt: String, ceiling: Int64) async throws {
        _ = try await fixture.sql(
            """
            INSERT INTO nodes(number, name, instance, seen_at, id_ceiling, speaks, version, draining)
            VALUES (1, '\(name)', 1, \(seenAt), \(ceiling), 1, '1', 0)
            """)
    }

    private func change(_ path: String, _ sql: StaticString) throws {
        try Connection(path: path, durability: .full, exclusive: true).execute(sql)
    }

    // MARK: Single rows

    @Test func `rows of PostgreSQL that SQLite cannot have are changed or left out`() async throws {
        let postgres = try PostgresTestStore(fixture)
        let (device, token) = try postgres.registeredDevice()
        let other = try postgres.enrol(2)
        let otherToken = try postgres.register(other)
        let least = NotificationIDLayout.least(at: 1_790_000_000_000)
        for (id, text, token) in [
            (least, "a", token), (least, "b", otherToken), (least + 1, "c", token), (least + 5, "d", otherToken),
        ] {
            postgres.lastID = id - 1
            try postgres.accept(.to(token, text))
        }
        _ = try await fixture.sql(
            """
            INSERT INTO pending SELECT device, 7, 7, topic, NULL, '' FROM pending WHERE id = \(least + 5);
            INSERT INTO pending SELECT device, key, id, 99, NULL, record FROM pending WHERE id = \(least + 5)
                ON CONFLICT DO NOTHING;
            INSERT INTO registrations VALUES (1, 99, 1, 1, 0, 0, NULL);
            INSERT INTO subscriptions(device, topic, channel, since) VALUES (1, \(token.topic.rawValue), 99, 0);
            INSERT INTO quota_uses VALUES ('team', 'T', 5, 1, 0), ('team', 'T', 6, 2, 1), ('team', 'T', 6, 3, 2)
            """)
        let path = files.path(of: "back.sqlite")
        let report = try move().copyToSQLite(at: path)
        #expect(report.damagedCount == 1)
        #expect(report.rowCount("pending") == 4 && report.rowCount("registrations") == 2)
        #expect(report.rowCount("subscriptions") == 0 && report.rowCount("quota_uses") == 1)
        #expect(try StoreCheck(path: path).problems == [])
        let back = try TestStore(path: path)
        #expect(try back.waiting(device) == ["a", "c"] && back.waiting(other) == ["b", "d"])
        guard case .quotas(_, let uses) = try back.succeed(.control(.quota(.all))) else {
            throw MissingReply(what: "quotas")
        }
        #expect(uses == [QuotaUse(QuotaSubject(.team, "T"), day: 6, count: 5)])
        let sequences = try sequences(of: [device, other], in: back)
        #expect(sequences == [[least, least + 2], [least + 1, least + 5]])
    }

    private func sequences(of devices: [TestDevice], in store: TestStore) throws -> [[Int64]] {
        try devices.map { device in
            let (stream, replies) = try store.attach(device)
            return replies.delivered(to: stream).map(\.sequence)
        }
    }

    @Test func `a notification with a wrong checksum is left out and counted, and others keep their numbers`() throws {
        let store = try TestStore()
        let (device, token) = try store.registeredDevice()
        for text in ["a", "b", "c"] { try store.accept(.to(token, text)) }
        store.store.stop()
        try change(store.path, "UPDATE pending SET record = x'7B7D' WHERE sequence = 2")
        let report = try copy(store)
        #expect(report.damagedCount == 1 && report.rowCount("pending") == 2)
        #expect(try PostgresTestStore(fixture).waiting(device) == ["a", "c"])
    }

    @Test func `events that a crash kept from the trace are recorded before it is copied`() throws {
        let store = try TestStore()
        let (_, token) = try store.registeredDevice()
        try store.accept(.to(token, "a").identified(1))
        store.store.stop()
        try change(store.path, "DELETE FROM trace; UPDATE pending SET trace_position = 0")
        #expect(try copy(store).rowCount("trace") == 1)
        let path = files.path(of: "back.sqlite")
        _ = try move().copyToSQLite(at: path)
        #expect(try TestStore(path: path).steps(1) == ["accepted", "stored"])
    }

    // MARK: Refusals

    @Test func `a failure in the middle leaves all tables empty`() async throws {
        let store = try TestStore()
        _ = try store.registeredDevice()
        _ = try PostgresTestStore(fixture)
        try await addTrigger("registrations", "RAISE EXCEPTION 'no space'")
        let error = #expect(throws: StoreMoveError.self) { try copy(store) }
        #expect(error?.description.contains("no space") == true)
        #expect(try await rowCount() == 0)
        _ = try await fixture.sql("DROP TRIGGER t ON registrations")
        #expect(try copy(store).rowCount("registrations") == 1)
        #expect(try await rowCount() > 0)
    }

    @Test func `rows that the target changed are noticed, with the name of the table`() async throws {
        let store = try TestStore()
        _ = try store.registeredDevice()
        _ = try PostgresTestStore(fixture)
        for change in ["NEW.name := 'x'; RETURN NEW", "RETURN NULL"] {
            try await addTrigger("devices", change)
            let error = #expect(throws: StoreMoveError.self) { try copy(store) }
            guard case .differs(_, "devices")? = error else { throw MissingReply(what: "differs") }
            #expect(try await rowCount() == 0)
        }
    }

    private func addTrigger(_ table: String, _ body: String) async throws {
        _ = try await fixture.sql(
            """
            CREATE OR REPLACE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(body); END $$;
            CREATE OR REPLACE TRIGGER t BEFORE INSERT ON \(table) FOR EACH ROW EXECUTE FUNCTION f()
            """)
    }

    /// Returns the number of rows in the tables that are copied.
    private func rowCount() async throws -> Int {
        let tables = (MovedTable.toPostgres + [.traceToPostgres, .pendingToPostgres]).map { table in
            "(SELECT count(*) FROM \(table.name) WHERE \(table.condition))"
        }
        return Int(try await fixture.sql("SELECT \(tables.joined(separator: " + "))")) ?? -1
    }

    @Test func `tables with rows are refused and stay as they are`() async throws {
        try PostgresTestStore(fixture).addApp()
        let error = #expect(throws: StoreMoveError.self) { try copy(try TestStore()) }
        guard case .notEmpty(_, "topics")? = error else { throw MissingReply(what: "notEmpty, not \(error as Any)") }
        #expect(try await rowCount() == 1)
    }

    @Test func `a running node is refused in both directions, and a stopped one is not`() async throws {
        let store = try TestStore()
        store.store.stop()
        _ = try PostgresTestStore(fixture)
        try await addNode("n1", seenAt: "clock_timestamp()", ceiling: 0)
        let path = files.path(of: "back.sqlite")
        for attempt in [{ try move().copyToPostgres(from: store.path) }, { try move().copyToSQLite(at: path) }] {
            let error = #expect(throws: StoreMoveError.self) { try attempt() }
            guard case .nodeRunning(_, "n1")? = error else { throw MissingReply(what: "nodeRunning") }
            #expect(error?.isInUse == true)
        }
        _ = try await fixture.sql("UPDATE nodes SET seen_at = seen_at - interval '10 seconds'")
        _ = try move().copyToPostgres(from: store.path)
        _ = try move().copyToSQLite(at: files.path(of: "other.sqlite"))
    }

    @Test func `devices in several databases are refused in both directions`() async throws {
        let store = try TestStore()
        store.store.stop()
        _ = try PostgresTestStore(fixture)
        _ = try await fixture.sql("INSERT INTO slots VALUES (7, 1)")
        let path = files.path(of: "back.sqlite")
        for attempt in [{ try move().copyToPostgres(from: store.path) }, { try move().copyToSQLite(at: path) }] {
            let error = #expect(throws: StoreMoveError.self) { try attempt() }
            guard case .severalShards? = error else { throw MissingReply(what: "severalShards") }
        }
    }

    @Test func `a file that a server uses is refused`() throws {
        let store = try TestStore()
        let error = #expect(throws: StoreMoveError.self) { try move().copyToPostgres(from: store.path) }
        guard case .sqlite(.locked)? = error else { throw MissingReply(what: "locked, not \(error as Any)") }
        #expect(error?.isInUse == true)
    }

    @Test func `a server that cannot be reached is reported with its address`() throws {
        let address = try PostgresAddress("postgresql://me:secret@/posthorn?host=\(files.path)")
        let error = #expect(throws: StoreMoveError.self) { try StoreMove(address) }
        #expect(error?.description.contains(files.path) == true && error?.description.contains("secret") == false)
        guard case .postgres(_, let cause)? = error, cause.kind == .cannotOpen else {
            throw MissingReply(what: "cannotOpen")
        }
    }

    @Test func `tables of another version are refused in both directions, and missing ones at the source`() async throws
    {
        let store = try TestStore()
        store.store.stop()
        let path = files.path(of: "back.sqlite")
        let missing = #expect(throws: StoreMoveError.self) { try move().copyToSQLite(at: path) }
        guard case .noTables? = missing else { throw MissingReply(what: "noTables, not \(missing as Any)") }
        _ = try PostgresTestStore(fixture)
        _ = try await fixture.sql("UPDATE state SET value = 2")
        for attempt in [{ try move().copyToPostgres(from: store.path) }, { try move().copyToSQLite(at: path) }] {
            let error = #expect(throws: StoreMoveError.self) { try attempt() }
            guard case .newerSchema(_, found: 2, known: 1)? = error else { throw MissingReply(what: "newerSchema") }
        }
    }
}
