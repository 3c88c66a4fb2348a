// SPDX-License-Identifier: Apache-2.0

internal import CPQ
internal import Glibc
internal import PushNet
internal import PushSQL

extension PostgresHandle {
    /// Begins a COPY from or to this program.
    func beginCopy(_ text: String) throws(SQLError) {
        try send(about: text) { unsafe PQsendQuery(pointer, text) }
        try wait(until: deadline, about: text)
        guard let next = unsafe PQgetResult(pointer) else { throw .lost(lastMessage, about: text) }
        let first = unsafe PostgresResult(adopting: next)
        guard first.status != .copying else { return }
        precondition(first.status == .failed, "the statement is no COPY: \(text)")
        let failure = first.failure(about: text)
        _ = try result(about: text)
        throw failure
    }

    /// Sends bytes of a COPY with `PQputCopyData`, and waits until the kernel has taken them.
    func putCopyData(_ bytes: [UInt8], about text: String) throws(SQLError) {
        let code = unsafe bytes.withUnsafeBytes { bytes in
            unsafe PQputCopyData(pointer, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
        }
        // Without an answer that says why, the connection is lost.
        guard code == 1 else {
            _ = try result(about: text)
            throw .lost(lastMessage, about: text)
        }
        let deadline = deadline
        while unsafe PQflush(pointer) > 0 {
            try awaitSocket(Int16(POLLIN | POLLOUT), until: deadline, about: text)
            guard unsafe PQconsumeInput(pointer) == 1 else { throw .lost(lastMessage, about: text) }
        }
    }

    /// Ends a COPY to the server; returns the number of stored rows.
    func endCopyIn(_ text: String) throws(SQLError) -> Int {
        guard unsafe PQputCopyEnd(pointer, nil) == 1 else {
            _ = try result(about: text)
            throw .lost(lastMessage, about: text)
        }
        return try result(about: text).copiedRowCount
    }

    /// Returns the next bytes of a COPY from the server with `PQgetCopyData`; nil after the last ones.
    func copyData(about text: String) throws(SQLError) -> [UInt8]? {
        let deadline = deadline
        while true {
            var buffer: UnsafeMutablePointer<CChar>?
            let count = unsafe PQgetCopyData(pointer, &buffer, 1)
            switch count {
            case 0:
                try awaitSocket(Int16(POLLIN), until: deadline, about: text)
                guard unsafe PQconsumeInput(pointer) == 1 else { throw .lost(lastMessage, about: text) }
            case 1...:
                defer { unsafe PQfreemem(buffer) }
                return unsafe [UInt8](UnsafeRawBufferPointer(start: buffer, count: Int(count)))
            default:
                // The end, or an error, which is reported as a result.
                _ = try result(about: text)
                return nil
            }
        }
    }
}
