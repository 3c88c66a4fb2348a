// SPDX-License-Identifier: Apache-2.0

internal import PushSQL

/// A list that is read in steps of `WriterLimits.rowsListedPerStepCountMax` rows, ordered by a unique key.
///
/// Other commands change the table between two steps. A row that stays is listed once. A row that is added or removed
/// meanwhile may be listed or not.
final class Listing<Row, Key>: LongWork {
    private let countMax: Int
    private let start: Key?
    private let read: (_ after: Key?, _ countMax: Int) throws(SQLError) -> ListPage<Row, Key>
    private let answer: (ListPage<Row, Key>) -> RequestResult
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
        read: @escaping (_ after: Key?, _ countMax: Int) throws(SQLError) -> ListPage<Row, Key>,
        answer: @escaping (ListPage<Row, Key>) -> RequestResult
    ) {
        self.start = start
        self.countMax = countMax
        self.read = read
        self.answer = answer
        found = ListPage(next: start)
    }

    func step() throws(SQLError) -> RequestResult {
        let wanted = min(WriterLimits.rowsListedPerStepCountMax, countMax - readCount)
        let page = try read(found.next, wanted)
        found.rows += page.rows
        found.next = page.next
        readCount += wanted
        guard page.next == nil || readCount >= countMax else { return .unfinished(self) }
        return answer(found)
    }

    func restart() {
        found = ListPage(next: start)
        readCount = 0
    }
}
