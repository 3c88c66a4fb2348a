// SPDX-License-Identifier: Apache-2.0

internal import CPQ
internal import Glibc
internal import PushNet
internal import PushSQL

/// A connection to PostgreSQL; owns one `PGconn *`.
///
/// The connection is non-blocking. The methods that wait do so with `poll(2)`, so that a server that stops answering
/// cannot block the thread without a limit.
// Safety: one thread uses it at a time. The thread that opens it passes it on through a mailbox and forgets it.
@safe
final class PostgresHandle: @unchecked Sendable {
    let pointer: OpaquePointer
    /// Whether a commit did not wait for a standby, because an administrator canceled the wait.
    ///
    /// The server reports such a commit as successful, and a warning precedes the report.
    private(set) var hasSkippedStandby = false
    private let address: PostgresAddress
    private let answerTimeout: Duration
    /// Whether the connection is in an unknown state, so that later answers could be mistaken for others.
    private var isAbandoned = false

    /// Connects, and sets the parameters of the session; blocks.
    ///
    /// - Parameters:
    ///   - address: The servers, which are tried in this order.
    ///   - settings: The settings of the session.
    /// - Throws: `cannotOpen` when no server can be reached; another kind when the session could not be prepared.
    init(opening address: PostgresAddress, _ settings: PostgresSettings) throws(SQLError) {
        let parameters = address.parameters + settings.parameters
        let opened = unsafe withCStrings(parameters.map(\.keyword)) { keywords in
            unsafe withCStrings(parameters.map(\.value)) { values in unsafe PQconnectdbParams(keywords, values, 0) }
        }
        guard let opened = unsafe opened else { throw .unreachable("out of memory", address) }
        unsafe pointer = opened
        self.address = address
        answerTimeout = settings.answerTimeout
        guard unsafe PQstatus(opened) == CONNECTION_OK else { throw .unreachable(lastMessage, address) }
        unsafe PQsetNoticeReceiver(opened, receiveNotice, Unmanaged.passUnretained(self).toOpaque())
        guard unsafe PQsetnonblocking(opened, 1) == 0 else { throw .unreachable(lastMessage, address) }
        _ = try execute(settings.script)
    }

    deinit { unsafe PQfinish(pointer) }

    // MARK: State

    /// Whether the connection can still be used, as far as is known.
    var isUsable: Bool { unsafe !isAbandoned && PQstatus(pointer) == CONNECTION_OK }

    /// Whether the connection is in a transaction, which may have failed.
    var isInTransaction: Bool {
        let status = unsafe PQtransactionStatus(pointer)
        return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
    }

    /// The version of the server, for example 150018.
    var serverVersion: Int { Int(unsafe PQserverVersion(pointer)) }
    /// Whether TLS protects the connection.
    var usesTLS: Bool { unsafe PQsslInUse(pointer) != 0 }
    /// The host or socket directory with the port, for example `db1.internal:5432`, from `PQhost` and `PQport`.
    var server: String {
        let host = unsafe PQhost(pointer).map { unsafe String(cString: $0) } ?? ""
        let port = unsafe PQport(pointer).map { unsafe String(cString: $0) } ?? ""
        return "\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
    /// The process of the server that serves this connection.
    var serverProcess: Int32 { unsafe PQbackendPID(pointer) }
    /// The last message of libpq about this connection, in one line.
    var lastMessage: String { unsafe PQerrorMessage(pointer).map { unsafe String(cString: $0) }?.oneLine ?? "" }

    /// Returns `hasSkippedStandby` and resets it.
    func takeSkippedStandby() -> Bool {
        defer { hasSkippedStandby = false }
        return hasSkippedStandby
    }

    /// Makes the connection unusable.
    func abandon() { isAbandoned = true }

    fileprivate func noteSkippedStandby() { hasSkippedStandby = true }

    /// Whether the server is on this machine: the connection is a UNIX socket or has a loopback address.
    var isLocal: Bool {
        guard let host = unsafe PQhost(pointer).map({ unsafe String(cString: $0) }), !host.hasPrefix("/") else {
            return true
        }
        let address = unsafe PQhostaddr(pointer).map { unsafe String(cString: $0) } ?? ""
        return address.hasPrefix("127.") || address == "::1"
    }

    /// Duplicates the descriptor of the socket with `fcntl(2)`.
    func duplicateDescriptor() throws(NetError) -> FileDescriptor {
        let descriptor = unsafe fcntl(PQsocket(pointer), F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw .system(call: "fcntl", code: errno, subject: "F_DUPFD_CLOEXEC") }
        return FileDescriptor(adopting: descriptor)
    }

    /// Switches to pipeline mode, in which the methods below cannot be used.
    func enterPipelineMode() throws(SQLError) {
        guard unsafe PQenterPipelineMode(pointer) == 1 else { throw .lost(lastMessage, about: address.description) }
    }

    // MARK: Statements, waiting for their results

    /// Runs statements without parameters, with `PQsendQuery`.
    ///
    /// - Parameter text: The statements.
    /// - Returns: The result of the last one.
    /// - Throws: The error of the first one that failed; the later ones are not executed.
    func execute(_ text: String) throws(SQLError) -> PostgresResult {
        try send(about: text) { unsafe PQsendQuery(pointer, text) }
        return try result(about: text)
    }

    /// Prepares a named statement, with `PQsendPrepare`.
    func prepare(_ text: String, name: String, types: [PostgresType]) throws(SQLError) {
        let types = types.map(\.rawValue)
        try send(about: text) {
            unsafe types.withUnsafeBufferPointer { types in
                unsafe PQsendPrepare(pointer, name, text, Int32(types.count), types.baseAddress)
            }
        }
        _ = try result(about: text)
    }

    /// Executes a prepared statement, with `PQsendQueryPrepared`; its rows are binary.
    func execute(_ name: String, _ parameters: PostgresParameters, about text: String) throws(SQLError)
        -> PostgresResult
    {
        try send(about: text) {
            unsafe parameters.withArrays { count, values, byteCounts, formats in
                unsafe PQsendQueryPrepared(pointer, name, count, values, byteCounts, formats, 1)
            }
        }
        return try result(about: text)
    }

    func send(about text: String, _ call: () -> Int32) throws(SQLError) {
        guard !isAbandoned else {
            throw .lost("the state of the connection is unknown after an earlier error", about: text)
        }
        guard call() == 1 else {
            guard unsafe PQstatus(pointer) == CONNECTION_OK else { throw .lost(lastMessage, about: text) }
            throw SQLError(kind: .refused, code: "XX000", message: lastMessage, subject: text)
        }
    }

    /// Waits for all results of what was sent.
    func result(about text: String) throws(SQLError) -> PostgresResult {
        let deadline = deadline
        var last = PostgresResult()
        var failure: SQLError?
        while true {
            try wait(until: deadline, about: text)
            guard let next = unsafe PQgetResult(pointer) else { break }
            let result = unsafe PostgresResult(adopting: next)
            precondition(result.status != .copying, "COPY begins with beginCopy: \(text)")
            if result.status == .failed { failure = failure ?? result.failure(about: text) }
            last = result
        }
        guard let failure else { return last }
        if failure.kind == .disconnected { isAbandoned = true }
        guard unsafe PQstatus(pointer) == CONNECTION_OK else {
            throw SQLError(kind: .disconnected, code: failure.code, message: failure.message, subject: text)
        }
        throw failure
    }

    /// Sends what is in libpq's buffer, and waits until a result can be taken without blocking.
    func wait(until deadline: MonotonicTime, about text: String) throws(SQLError) {
        var isUnsent = unsafe PQflush(pointer) > 0
        while unsafe isUnsent || PQisBusy(pointer) != 0 {
            let events = Int16(POLLIN) | (isUnsent ? Int16(POLLOUT) : 0)
            guard try awaitSocket(events, until: deadline, about: text) else { continue }
            // A failure is reported as a result, after those that arrived before it.
            guard unsafe PQconsumeInput(pointer) == 1 else { return }
            unsafe isUnsent = PQflush(pointer) > 0
        }
    }

    /// Waits until the socket can be read or written; returns false if the wait was interrupted.
    @discardableResult
    func awaitSocket(_ events: Int16, until deadline: MonotonicTime, about text: String) throws(SQLError) -> Bool {
        var entry = unsafe pollfd(fd: PQsocket(pointer), events: events, revents: 0)
        let rest = deadline.milliseconds(since: .now)
        guard rest > 0, entry.fd >= 0 else {
            isAbandoned = true
            let reason = rest > 0 ? lastMessage : "the server did not answer in \(answerTimeout)"
            throw .lost(reason, about: text)
        }
        let code = hasPendingBytes ? 1 : unsafe poll(&entry, 1, Int32(clamping: rest))
        precondition(code >= 0 || errno == EINTR || errno == ENOMEM, "poll failed: errno \(errno)")
        return code > 0
    }

    /// The time until which the server must answer a statement that is sent now.
    var deadline: MonotonicTime { MonotonicTime.now.advanced(by: answerTimeout) }

    /// Whether OpenSSL has read bytes that libpq has not, so that waiting for the socket would be wrong.
    var hasPendingBytes: Bool { unsafe push_pq_has_pending_bytes(pointer) != 0 }
}

/// Receives a notice of the server or of libpq; without it, libpq writes notices to standard error.
private func receiveNotice(_ context: UnsafeMutableRawPointer?, _ notice: OpaquePointer?) {
    guard let context = unsafe context,
        let function = unsafe PQresultErrorField(notice, PostgresField.sourceFunction),
        // The notice has no SQLSTATE of its own, and its text depends on the language of the server.
        unsafe strcmp(function, "SyncRepWaitForLSN") == 0
    else { return }
    unsafe Unmanaged<PostgresHandle>.fromOpaque(context).takeUnretainedValue().noteSkippedStandby()
}

/// Calls a closure with texts as the null-terminated array that libpq takes.
private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let characters = texts.flatMap { Array($0.utf8CString) }
    return unsafe characters.withUnsafeBufferPointer { characters in
        var pointers = unsafe [UnsafePointer<CChar>?]()
        unsafe pointers.reserveCapacity(texts.count + 1)
        var offset = 0
        for text in texts {
            unsafe pointers.append(characters.baseAddress.map { unsafe $0 + offset })
            offset += text.utf8.count + 1
        }
        unsafe pointers.append(nil)
        return unsafe pointers.withUnsafeBufferPointer { pointers in
            guard let start = pointers.baseAddress else { preconditionFailure("the array ends with nil") }
            return unsafe body(start)
        }
    }
}
