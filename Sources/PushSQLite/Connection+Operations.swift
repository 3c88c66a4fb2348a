// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

extension Connection {
    /// The number of operations of SQLite's virtual machine that all statements have executed, with
    /// `sqlite3_stmt_status`.
    ///
    /// Tests use it to measure how much work a statement needs.
    var operationCount: Int {
        var count = 0
        var next = unsafe sqlite3_next_stmt(handle, nil)
        while let statement = unsafe next {
            count += Int(unsafe sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0))
            unsafe next = sqlite3_next_stmt(handle, statement)
        }
        return count
    }
}
