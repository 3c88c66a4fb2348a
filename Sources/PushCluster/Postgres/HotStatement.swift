// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres

/// The statements of a `ShardBatch`, in the order in which a batch sends them.
///
/// Arrays have an element for each row. `place` counts the elements from 1.
///
/// PostgreSQL keeps the plan of a statement, and may have made it while a table was empty. So each row is looked up by
/// its key. Sessions exclude plans that scan tables (`PostgresSettings.findsRowsByKey`). Lateral queries with LIMIT or
/// OFFSET exclude plans that read a whole index. PostgreSQL chooses such plans when it estimates far too few rows.
enum HotStatement: Int, CaseIterable {
    /// Commits the current transaction without waiting for a disk or a standby.
    case commitLater
    case beat, changes, forgetChanges, nodes, broadcasts
    case depart, delete, acknowledge, skip, attach
    case hosts, rows, registrations, subscriptions, histories
    case replaced, write
    case announce
    case look
    /// Asks why notifications were not written.
    case explain

    /// The statement that a pipeline prepares.
    var prepared: PipelineStatement {
        switch self {
        case .commitLater: PipelineStatement("SELECT set_config('synchronous_commit', 'off', true)", [])
        case .beat:
            // The time is read before `changes`, in the same transaction.
            PipelineStatement(
                """
                UPDATE nodes SET seen_at = clock_timestamp(), id_ceiling = $3, heard_transaction = $4,
                    draining = CASE WHEN draining = 0 THEN 0 ELSE $5 END
                WHERE number = $1 AND instance = $2
                RETURNING (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, (SELECT version FROM control),
                    pg_snapshot_xmin(pg_current_snapshot())::text::bigint
                """, [.int64, .int64, .int64, .int64, .int64])
        case .changes: PipelineStatement("SELECT position, device FROM changes WHERE transaction >= $1", [.int64])
        case .forgetChanges:
            PipelineStatement(
                "DELETE FROM changes WHERE at_ms < (extract(epoch FROM clock_timestamp()) * 1000)::bigint - 60000", [])
        case .nodes:
            PipelineStatement(
                """
                SELECT instance, heard_transaction, seen_at > clock_timestamp() - interval '3 seconds', address, name, version,
                    draining, (extract(epoch FROM clock_timestamp() - seen_at) * 1000)::bigint, id_ceiling FROM nodes
                """, [])
        case .broadcasts: PipelineStatement("SELECT sequence FROM broadcasts WHERE sequence >= $1", [.int64])
        case .depart:
            PipelineStatement(
                """
                UPDATE hosts SET instance = 0, left_at_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
                FROM unnest($1, $2) AS u(device, epoch) CROSS JOIN LATERAL (
                    SELECT h.ctid AS place FROM hosts h WHERE h.device = u.device AND h.epoch = u.epoch LIMIT 1) AS found
                WHERE hosts.ctid = found.place AND hosts.epoch = u.epoch
                """, [.int64Array, .int64Array])
        case .delete:
            PipelineStatement(
                """
                DELETE FROM pending p USING unnest($1, $2, $3) AS u(device, key, id) CROSS JOIN LATERAL (
                    SELECT q.ctid AS place FROM pending q
                    WHERE q.device = u.device AND q.key = u.key AND q.id = u.id LIMIT 1) AS found
                WHERE p.ctid = found.place AND p.id = u.id
                """, [.int64Array, .int64Array, .int64Array])
        case .acknowledge:
            PipelineStatement(
                """
                DELETE FROM pending p USING unnest($1, $2) AS u(device, id) CROSS JOIN LATERAL (
                    SELECT q.ctid AS place FROM pending q
                    WHERE q.device = u.device AND q.id = u.id AND (q.key = u.id OR q.key < 0) LIMIT 1) AS found
                WHERE p.ctid = found.place AND p.id = u.id
                """, [.int64Array, .int64Array])
        case .skip:
            PipelineStatement(
                """
                UPDATE subscriptions s SET since = u.since FROM (
                    SELECT device, channel, max(number) AS since FROM unnest($1, $2, $3) AS u(device, channel, number)
                    GROUP BY device, channel) AS u CROSS JOIN LATERAL (
                    SELECT q.ctid AS place FROM subscriptions q
                    WHERE q.device = u.device AND q.channel = u.channel OFFSET 0) AS found
                WHERE s.ctid = found.place AND s.since < u.since
                """, [.int64Array, .int64Array, .int64Array])
        case .attach: Self.attachment
        case .hosts:
            PipelineStatement(
                """
                SELECT coalesce(d.secret_hash = u.hash, false), h.instance, h.epoch,
                    n.seen_at > clock_timestamp() - interval '3 seconds', h.earlier_instance, h.earlier_epoch,
                    e.seen_at > clock_timestamp() - interval '3 seconds',
                    EXISTS (SELECT 1 FROM moved_slots WHERE slot = (u.device >> 53)::int)
                FROM unnest($1, $2) WITH ORDINALITY AS u(device, hash, place)
                LEFT JOIN LATERAL (SELECT secret_hash FROM devices WHERE id = u.device LIMIT 1) AS d ON true
                LEFT JOIN LATERAL (SELECT * FROM hosts WHERE hosts.device = u.device LIMIT 1) AS h ON true
                LEFT JOIN nodes n ON n.instance = h.instance LEFT JOIN nodes e ON e.instance = h.earlier_instance
                ORDER BY place
                """, [.int64Array, .bytesArray])
        case .rows:
            PipelineStatement(
                """
                SELECT place, key, id, topic, expires_at_ms, record
                FROM unnest($1) WITH ORDINALITY AS u(device, place) CROSS JOIN LATERAL (
                    SELECT key, id, topic, expires_at_ms, record FROM pending WHERE pending.device = u.device
                    ORDER BY id LIMIT $2) AS waiting
                ORDER BY place, id
                """, [.int64Array, .int64])
        case .registrations:
            PipelineStatement(
                """
                SELECT place, topic, generation, live, refused, ended_at_ms, expired
                FROM unnest($1) WITH ORDINALITY AS u(device, place) CROSS JOIN LATERAL (
                    SELECT * FROM registrations WHERE registrations.device = u.device OFFSET 0) AS r
                """, [.int64Array])
        case .subscriptions:
            PipelineStatement(
                """
                SELECT place, channel, s.topic, generation, since
                FROM unnest($1) WITH ORDINALITY AS u(device, place) CROSS JOIN LATERAL (
                    SELECT * FROM subscriptions WHERE subscriptions.device = u.device OFFSET 0) AS s
                CROSS JOIN LATERAL (
                    SELECT generation FROM registrations r WHERE r.device = u.device AND r.topic = s.topic
                        AND live = 1 AND refused = 0 LIMIT 1) AS r
                """, [.int64Array])
        case .histories:
            PipelineStatement(
                """
                SELECT place, entries
                FROM unnest($1) WITH ORDINALITY AS u(device, place) CROSS JOIN LATERAL (
                    SELECT entries FROM delivery_histories h WHERE h.device = u.device LIMIT 1) AS h
                """, [.int64Array])
        case .replaced:
            // Locks the rows in the order of the arrays, so that the following insertion finds them unchanged.
            PipelineStatement(
                """
                SELECT u.device, u.key, p.id, p.topic FROM unnest($1, $2) AS u(device, key) CROSS JOIN LATERAL (
                    SELECT id, topic FROM pending WHERE pending.device = u.device AND pending.key = u.key LIMIT 1
                    FOR UPDATE) AS p
                """, [.int64Array, .int64Array])
        case .write: Self.insertion
        case .announce:
            PipelineStatement(
                """
                INSERT INTO changes(device, at_ms)
                SELECT device, (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM unnest($1) AS u(device)
                RETURNING transaction
                """, [.int64Array])
        case .look:
            PipelineStatement(
                """
                SELECT place, h.instance, h.epoch, n.seen_at > clock_timestamp() - interval '3 seconds',
                    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
                FROM unnest($1) WITH ORDINALITY AS u(device, place)
                LEFT JOIN LATERAL (SELECT * FROM hosts WHERE hosts.device = u.device LIMIT 1) AS h ON true
                LEFT JOIN nodes n ON n.instance = h.instance
                """, [.int64Array])
        case .explain:
            PipelineStatement(
                """
                SELECT d.id, r.generation, live, refused, ended_at_ms, expired,
                    EXISTS (SELECT 1 FROM moved_slots WHERE slot = (u.device >> 53)::int)
                FROM unnest($1, $2) WITH ORDINALITY AS u(device, topic, place)
                LEFT JOIN LATERAL (SELECT id FROM devices WHERE id = u.device LIMIT 1) AS d ON true
                LEFT JOIN LATERAL (
                    SELECT * FROM registrations q WHERE q.device = u.device AND q.topic = u.topic LIMIT 1) AS r ON true
                ORDER BY place
                """, [.int64Array, .int64Array])
        }
    }

    /// Registers streams of live devices of this shard that present the right secret; returns the replaced hosts.
    ///
    /// The row keeps the replaced host, because no clause returns the old values of an updated row.
    private static let attachment = PipelineStatement(
        """
        INSERT INTO hosts(device, instance, epoch)
        SELECT u.device, $4, u.epoch FROM unnest($1, $2, $3) AS u(device, epoch, hash)
        CROSS JOIN LATERAL (
            SELECT 1 FROM devices d WHERE d.id = u.device AND d.secret_hash = u.hash
                AND NOT EXISTS (SELECT 1 FROM moved_slots WHERE slot = (u.device >> 53)::int) LIMIT 1) AS authorized
        ORDER BY u.device
        ON CONFLICT (device) DO UPDATE SET instance = excluded.instance, epoch = excluded.epoch,
            earlier_instance = hosts.instance, earlier_epoch = hosts.epoch WHERE hosts.epoch < excluded.epoch
        RETURNING device, earlier_instance, earlier_epoch, (
            SELECT n.seen_at > clock_timestamp() - interval '3 seconds' FROM nodes n
            WHERE n.instance = earlier_instance)
        """, [.int64Array, .int64Array, .bytesArray, .int64])

    /// Writes notifications for live registrations of this shard, unless a row with a higher number has the key.
    private static let insertion = PipelineStatement(
        """
        INSERT INTO pending AS p (device, key, id, topic, expires_at_ms, record)
        SELECT u.device, u.key, u.id, u.topic, u.expires_at_ms, u.record
        FROM unnest($1, $2, $3, $4, $5, $6, $7)
            AS u(device, key, id, topic, generation, expires_at_ms, record)
        CROSS JOIN LATERAL (
            SELECT 1 FROM registrations r WHERE r.device = u.device AND r.topic = u.topic
                AND r.live = 1 AND r.generation = u.generation AND r.refused = 0
                AND NOT EXISTS (SELECT 1 FROM moved_slots WHERE slot = (u.device >> 53)::int) LIMIT 1) AS registered
        ORDER BY u.device, u.key
        ON CONFLICT (device, key) DO UPDATE SET id = excluded.id, topic = excluded.topic,
            expires_at_ms = excluded.expires_at_ms, record = excluded.record WHERE p.id < excluded.id
        """, [.int64Array, .int64Array, .int64Array, .int64Array, .int64Array, .int64Array, .bytesArray])
}
