// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Hashes of enrolment codes; each code can be used once.
final class EnrolmentCodeTable {
    private let insert: any SQLStatement
    private let select: any SQLStatement
    private let use: any SQLStatement
    private let selectDevice: any SQLStatement
    private let selectUse: any SQLStatement
    private let deleteOld: any SQLStatement
    private let selectUnused: any SQLStatement
    private let deleteUnused: any SQLStatement
    private let connection: any SQLDatabase

    init(_ connection: any SQLDatabase) throws(SQLError) {
        self.connection = connection
        insert = try connection.prepare("INSERT INTO enrolment_codes(hash, expires_at) VALUES (?, ?)")
        select = try connection.prepare("SELECT 1 FROM enrolment_codes WHERE hash = ?")
        use = try connection.prepare(
            """
            UPDATE enrolment_codes SET used_at_ms = ?1, device = ?4, request_hash = ?5
            WHERE hash = ?2 AND used_at_ms IS NULL AND expires_at >= ?3
            """)
        selectDevice = try connection.prepare(
            "SELECT device FROM enrolment_codes WHERE hash = ? AND request_hash = ? AND expires_at >= ?")
        selectUse = try connection.prepare("SELECT 1 FROM enrolment_codes WHERE hash = ? AND device = ?")
        deleteOld = try connection.prepare("DELETE FROM enrolment_codes WHERE expires_at < ?")
        selectUnused = try connection.prepare(
            """
            SELECT substr(hash, 1, 4), expires_at FROM enrolment_codes
            WHERE used_at_ms IS NULL AND expires_at >= ? ORDER BY expires_at, hash LIMIT ?
            """)
        deleteUnused = try connection.prepare(
            "DELETE FROM enrolment_codes WHERE substr(hash, 1, 4) = ? AND used_at_ms IS NULL AND expires_at >= ?")
    }

    /// Returns whether the code is known, used or not.
    func contains(_ hash: [UInt8]) throws(SQLError) -> Bool {
        select.bind(hash, at: 1)
        defer { select.reset() }
        return try select.step()
    }

    /// Adds a new code.
    func add(_ hash: [UInt8], expiresAt: Timestamp) throws(SQLError) {
        insert.bind(hash, at: 1)
        insert.bind(expiresAt.unixSeconds, at: 2)
        try insert.run()
    }

    /// Uses a code for a device and its request ID; returns false when the code is unknown, used or expired.
    func use(_ hash: [UInt8], by device: Int64, _ requestHash: [UInt8]?, now: Timestamp) throws(SQLError) -> Bool {
        use.bind(now.unixMilliseconds, at: 1)
        use.bind(hash, at: 2)
        use.bind(now.unixSeconds, at: 3)
        use.bind(device, at: 4)
        use.bind(requestHash, at: 5)
        try use.run()
        return connection.changedRowCount > 0
    }

    /// Returns whether a device has used a code.
    func isUsed(_ hash: [UInt8], by device: Int64) throws(SQLError) -> Bool {
        selectUse.bind(hash, at: 1)
        selectUse.bind(device, at: 2)
        defer { selectUse.reset() }
        return try selectUse.step()
    }

    /// Returns the device that used an unexpired code with a request ID; nil without such a use.
    func device(_ hash: [UInt8], _ requestHash: [UInt8], now: Timestamp) throws(SQLError) -> Int64? {
        selectDevice.bind(hash, at: 1)
        selectDevice.bind(requestHash, at: 2)
        selectDevice.bind(now.unixSeconds, at: 3)
        defer { selectDevice.reset() }
        return try selectDevice.step() ? selectDevice.optionalInt64(0) : nil
    }

    /// Returns the codes that are valid and unused, oldest first, at most as many as a list may have.
    func unused(now: Timestamp) throws(SQLError) -> [UnusedEnrolmentCode] {
        selectUnused.bind(now.unixSeconds, at: 1)
        selectUnused.bind(Int64(Limits.listedEnrolmentCodeCountMax), at: 2)
        defer { selectUnused.reset() }
        var codes: [UnusedEnrolmentCode] = []
        while try selectUnused.step() {
            let expiresAt = Timestamp(unixSeconds: selectUnused.int64(1))
            codes.append(UnusedEnrolmentCode(id: selectUnused.bytes(0), expiresAt: expiresAt))
        }
        return codes
    }

    /// Deletes the unused code with this ID; returns false if no unused code has this ID.
    func deleteUnused(id: [UInt8], now: Timestamp) throws(SQLError) -> Bool {
        deleteUnused.bind(id, at: 1)
        deleteUnused.bind(now.unixSeconds, at: 2)
        try deleteUnused.run()
        return connection.changedRowCount > 0
    }

    /// Deletes expired codes, used or not.
    func deleteExpired(now: Timestamp) throws(SQLError) {
        deleteOld.bind(now.unixSeconds, at: 1)
        try deleteOld.run()
    }
}
