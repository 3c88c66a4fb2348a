// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Executor {
    func publish(_ broadcast: Broadcast, _ answer: ReplyAddress) throws(SQLiteError) { preconditionFailure("unwritten") }

    func performForChannel(_ request: StoreRequest) throws(SQLiteError) -> Verdict { preconditionFailure("unwritten") }

    func administerMore(_ request: StoreRequest) throws(SQLiteError) -> Verdict { preconditionFailure("unwritten") }
}
