// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushPostgres
internal import PushStore

extension ShardResult.Heartbeat {
    /// Takes the result of a statement of a heartbeat.
    mutating func take(_ statement: HotStatement, _ result: borrowing PostgresResult) {
        switch statement {
        case .beat:
            // Without a row, another instance has the node's number.
            isTaken = result.rowCount == 0
            guard !isTaken else { return }
            (time, controlVersion) = (result.int64(0, 0), result.int64(0, 1))
            leastUnendedTransaction = result.int64(0, 2)
        case .changes:
            for row in 0..<result.rowCount {
                changes.append(
                    .init(position: result.int64(row, 0), device: DeviceID(stored: result.int64(row, 1))))
            }
        case .nodes:
            for row in 0..<result.rowCount {
                nodes.append(
                    .init(
                        instance: InstanceID(rawValue: result.int64(row, 0)), isLive: result.int64(row, 2) != 0,
                        heardTransaction: result.int64(row, 1), idCeiling: result.int64(row, 8),
                        address: result.optionalString(row, 3),
                        name: result.optionalString(row, 4) ?? "", version: result.optionalString(row, 5) ?? "",
                        draining: Draining(rawValue: result.int64(row, 6)) ?? .no,
                        heartbeatAgeMilliseconds: max(result.int64(row, 7), 0)))
            }
        case .broadcasts: broadcasts = (0..<result.rowCount).map { result.int64($0, 0) }
        default: break
        }
    }
}

extension ShardResult.Host {
    /// Decodes the columns instance, epoch, and whether its last heartbeat is recent.
    init(_ result: borrowing PostgresResult, _ row: Int, from column: Int) {
        self.init(
            instance: InstanceID(rawValue: result.int64(row, column)), epoch: result.int64(row, column + 1),
            isLive: result.int64(row, column + 2) != 0)
    }
}

extension ShardResult.Replaced {
    /// Decodes the columns device, key, id and topic.
    init(_ result: borrowing PostgresResult, _ row: Int) {
        self.init(
            device: DeviceID(stored: result.int64(row, 0)), key: RowKey(rawValue: result.int64(row, 1)),
            id: result.int64(row, 2), topic: TopicID(rawValue: UInt32(truncatingIfNeeded: result.int64(row, 3))))
    }
}

extension RegistrationState {
    /// Decodes the columns generation, live, refused, ended_at_ms and expired.
    init(_ result: borrowing PostgresResult, _ row: Int, from column: Int) {
        self.init(
            generation: UInt32(truncatingIfNeeded: result.int64(row, column)),
            isLive: result.int64(row, column + 1) != 0, isRefused: result.int64(row, column + 2) != 0,
            endedAt: result.optionalInt64(row, column + 3).map(Timestamp.init(unixMilliseconds:)),
            hasExpired: result.int64(row, column + 4) != 0)
    }
}

extension ShardResult.Write {
    /// Decides from the device and its registration why a notification was not written.
    ///
    /// With a live registration, a row with a higher number has the key, or had it and was acknowledged.
    init(_ result: borrowing PostgresResult, _ row: Int, generation: UInt32) {
        if result.int64(row, 6) != 0 {
            self = .failed
        } else if result.isNull(row, 0) {
            self = .refused(.badDeviceToken, endedAt: nil)
        } else if result.isNull(row, 1) {
            self = .refused(.unregistered, endedAt: nil)
        } else {
            let registration = RegistrationState(result, row, from: 1)
            if let (reason, ended) = registration.rejection(of: generation) {
                self = .refused(reason, endedAt: ended)
            } else {
                self = registration.isRefused ? .dropped : .written
            }
        }
    }
}
