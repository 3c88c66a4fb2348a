// SPDX-License-Identifier: Apache-2.0

internal import PushSQLite

/// A page of a list: rows, and the key after which the list continues.
struct ListPage<Row, Key> {
    var rows: [Row] = []
    /// The key of the last row that was read; nil when there are no more rows.
    var next: Key?
}

/// A list that is read in steps of `WriterLimits.rowsListedPerStepCountMax` rows, ordered by a unique key.
///
/// Other commands change the table between two steps. A row that stays is listed once. A row that is added or removed
/// meanwhile may be listed or not.
final class Listing<Row, Key>: LongWork {
    private let countMax: Int
    private let start: Key?
    private let read: (_ after: Key?, _ countMax: Int) throws(SQLiteError) -> ListPage<Row, Key>
    private let answer: (ListPage<Row, Key>) -> StoreEvent
    private var found: ListPage<Row, Key>
    private var readCount = 0

    /// Describes a list.
    ///
    /// - Parameters:
    ///   - start: The key after which the list starts; nil for the first row.
    ///   - countMax: The maximum number of rows that are read.
    ///   - read: Reads the next rows after a key. It may leave out rows.
    ///   - answer: Creates the answer from all rows.
    init(
        after start: Key? = nil, countMax: Int = .max,
        read: @escaping (_ after: Key?, _ countMax: Int) throws(SQLiteError) -> ListPage<Row, Key>,
        answer: @escaping (ListPage<Row, Key>) -> StoreEvent
    ) {
        self.start = start
        self.countMax = countMax
        self.read = read
        self.answer = answer
        found = ListPage(next: start)
    }

    func step(_ executor: Executor) throws(SQLiteError) -> Bool {
        let wanted = min(WriterLimits.rowsListedPerStepCountMax, countMax - readCount)
        let page = try read(found.next, wanted)
        found.rows += page.rows
        found.next = page.next
        readCount += wanted
        guard page.next == nil || readCount >= countMax else { return false }
        executor.events.append(answer(found))
        return true
    }

    func restart() {
        found = ListPage(next: start)
        readCount = 0
    }
}

extension Statement {
    /// Reads the rows of a statement with a LIMIT into a page, and resets it.
    ///
    /// - Parameters:
    ///   - countMax: The LIMIT. With as many rows, there may be more.
    ///   - row: Reads the current row; returns nil to leave it out.
    ///   - key: Reads the current row's key.
    /// - Returns: The page.
    /// - Throws: The error that SQLite returned.
    func page<Row, Key>(
        countMax: Int, row: (Statement) throws(SQLiteError) -> Row?, key: (Statement) -> Key
    ) throws(SQLiteError) -> ListPage<Row, Key> {
        defer { reset() }
        var page = ListPage<Row, Key>()
        var (last, count): (Key?, Int) = (nil, 0)
        while try step() {
            if let row = try row(self) { page.rows.append(row) }
            last = key(self)
            count += 1
        }
        if count == countMax { page.next = last }
        return page
    }
}
