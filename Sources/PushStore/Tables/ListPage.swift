// SPDX-License-Identifier: Apache-2.0

internal import PushSQL

/// A page of a list: rows, and the key after which the list continues.
struct ListPage<Row, Key> {
    var rows: [Row] = []
    /// The key of the last row that was read; nil if there are no more rows.
    var next: Key?
}

extension SQLStatement {
    /// Reads the rows of a statement with a LIMIT into a page, and resets it.
    ///
    /// - Parameters:
    ///   - countMax: The LIMIT. With as many rows, there may be more.
    ///   - row: Reads the current row; returns nil to leave it out.
    ///   - key: Reads the current row's key.
    /// - Returns: The page.
    /// - Throws: The error that the engine returned.
    func page<Row, Key>(
        countMax: Int, row: (any SQLStatement) throws(SQLError) -> Row?, key: (any SQLStatement) -> Key
    ) throws(SQLError) -> ListPage<Row, Key> {
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
