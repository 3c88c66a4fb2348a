// SPDX-License-Identifier: Apache-2.0

internal import CPQ
package import PushNet
package import PushSQL

/// A connection to PostgreSQL on an event loop, in libpq's pipeline mode: statements are sent without waiting for the
/// results of earlier ones.
///
/// The statements between two calls of `sync` are a batch, which is one transaction. A batch is committed only when
/// `synced` is called without an error.
///
/// ```
///   connecting ──▶ connected ──lost──▶ waiting ──delay over──▶ connecting
///       └────────────failed──────────────▲
/// ```
///
/// A helper thread connects, because the resolution of names blocks, and prepares the statements.
@safe
package final class PostgresPipeline {
    /// The closures that a pipeline calls on its loop; each may call the methods of the pipeline.
    package struct Handlers {
        /// The pipeline has connected and accepts statements.
        package var connected: () -> Void
        /// Receives the result of the next statement, by the index of the statement in the list.
        package var received: (_ statement: Int, _ result: borrowing PostgresResult) -> Void
        /// Receives the end of the next batch: nil after its commit, or the first error, which rolled it back.
        ///
        /// After an error of the kind `disconnected`, it is unknown whether the batch took effect.
        package var synced: (SQLError?) -> Void
        /// The connection was lost, with the results of all unanswered statements; the pipeline reconnects.
        package var lost: (SQLError) -> Void
        /// An attempt to connect failed; the pipeline tries again.
        package var unreachable: (SQLError) -> Void

        package init(
            connected: @escaping () -> Void, received: @escaping (Int, borrowing PostgresResult) -> Void,
            synced: @escaping (SQLError?) -> Void, lost: @escaping (SQLError) -> Void,
            unreachable: @escaping (SQLError) -> Void
        ) {
            self.connected = connected
            self.received = received
            self.synced = synced
            self.lost = lost
            self.unreachable = unreachable
        }
    }

    private enum State {
        case stopped
        case connecting
        case connected(PipelineLink)
        case waiting(TimerID)
    }

    private let loop: EventLoop
    private let address: PostgresAddress
    private let settings: PostgresSettings
    private let statements: [PipelineStatement]
    private let handlers: Handlers
    private let random: () -> Double
    private let mailbox: Mailbox<Attempt>
    private var state = State.stopped
    private var delay = ReconnectDelay()
    /// The number of the current attempt, which makes the outcomes of earlier ones detectable.
    private var attemptNumber = 0

    /// The outcome of an attempt to connect.
    private struct Attempt: Sendable {
        let number: Int
        let outcome: Result<PostgresHandle, SQLError>
    }

    /// Creates a pipeline, which `start` connects.
    ///
    /// - Parameters:
    ///   - loop: The loop of the pipeline and its handlers.
    ///   - address: The servers.
    ///   - settings: The settings of the session.
    ///   - statements: The statements that can be sent.
    ///   - random: Returns numbers from 0 to 1, for the delays between attempts to connect.
    ///   - handlers: The closures, which are retained until the loop is released.
    /// - Throws: `NetError.system` if the kernel has no memory for another descriptor.
    package init(
        on loop: EventLoop, to address: PostgresAddress, settings: PostgresSettings, statements: [PipelineStatement],
        random: @escaping () -> Double = { .random(in: 0...1) }, handlers: Handlers
    ) throws(NetError) {
        self.loop = loop
        self.address = address
        self.settings = settings
        self.statements = statements
        self.handlers = handlers
        self.random = random
        mailbox = try Mailbox()
        try loop.attach(mailbox) { [weak self] attempts in
            for attempt in attempts { self?.finish(attempt) }
        }
    }

    /// Whether statements can be sent.
    package var isConnected: Bool { link?.isUsable ?? false }

    /// The number of statements and batches whose results have not arrived.
    package var unansweredCount: Int { link?.unanswered.count ?? 0 }

    /// The process of the server that serves the connection; nil without a connection.
    package var serverProcess: Int32? { link?.handle.serverProcess }

    private var link: PipelineLink? {
        guard case .connected(let link) = state else { return nil }
        return link
    }

    // MARK: Statements

    /// Sends a statement; its parameters are copied.
    ///
    /// The statements of a batch are sent at the latest by `sync`. The caller must bound the number of unanswered ones.
    ///
    /// - Parameters:
    ///   - statement: The index in the list of statements.
    ///   - parameters: The parameters, with the types of the list.
    /// - Returns: Whether a result will follow; false without a connection.
    @discardableResult
    package func send(_ statement: Int, _ parameters: PostgresParameters) -> Bool {
        precondition(parameters.count == statements[statement].parameters.count, "the number of parameters is wrong")
        guard let link, link.isUsable else { return false }
        let isSent = unsafe parameters.withArrays { count, values, byteCounts, formats in
            unsafe link.send(statement, count, values, byteCounts, formats)
        }
        if !isSent { loseLater(link) }
        return isSent
    }

    /// Ends a batch, and sends what was not sent before.
    ///
    /// - Returns: Whether `synced` will follow; false without a connection.
    @discardableResult
    package func sync() -> Bool {
        guard let link, link.isUsable else { return false }
        let isSent = link.sync()
        if !isSent { loseLater(link) }
        return isSent
    }

    /// Reports the loss of the connection at the end of the turn, because `send` must not call a handler.
    private func loseLater(_ link: PipelineLink) {
        link.isUsable = false
        loop.atEndOfTurn { [weak self, weak link] in
            guard let self, let link, self.link === link else { return }
            lose(.lost(link.handle.lastMessage, about: address.description))
        }
    }

    // MARK: Connecting

    /// Connects, and reconnects after each loss until `stop`.
    package func start() {
        guard case .stopped = state else { return }
        connect()
    }

    /// Closes the connection without calling a handler; unanswered statements may still take effect.
    package func stop() {
        switch state {
        case .connected(let link): link.close()
        case .waiting(let timer): loop.cancel(timer)
        case .stopped, .connecting: break
        }
        state = .stopped
        attemptNumber += 1
    }

    private func connect() {
        state = .connecting
        attemptNumber += 1
        let (number, address, settings, statements) = (attemptNumber, address, settings, statements)
        let mailbox = mailbox
        _ = Thread(name: "postgres-connect") {
            let outcome = Result { () throws(SQLError) in
                let handle = try PostgresHandle(opening: address, settings)
                for (index, statement) in statements.enumerated() {
                    try handle.prepare(
                        statement.sql.description, name: PipelineLink.name(of: index),
                        types: statement.parameters.map(\.type))
                }
                try handle.enterPipelineMode()
                return handle
            }
            mailbox.post(Attempt(number: number, outcome: outcome))
        }
    }

    private func finish(_ attempt: Attempt) {
        guard case .connecting = state, attempt.number == attemptNumber else { return }
        do {
            let handle = try attempt.outcome.get()
            let link = try PipelineLink(handle, on: loop, statementCount: statements.count)
            link.owner = self
            delay.reset()
            state = .connected(link)
            handlers.connected()
        } catch {
            let failure = error as? SQLError ?? .lost("\(error)", about: address.description)
            waitAndConnect()
            handlers.unreachable(failure)
        }
    }

    private func waitAndConnect() {
        let timer = loop.schedule(after: delay.next(random: random())) { [weak self] in self?.connect() }
        state = .waiting(timer)
    }

    /// Closes the connection and reports its loss.
    private func lose(_ failure: SQLError) {
        guard let link else { return }
        link.close()
        waitAndConnect()
        handlers.lost(failure)
    }

    // MARK: Results

    /// Takes all results that have arrived.
    fileprivate func receive(from link: PipelineLink) {
        repeat {
            let isOpen = link.consume()
            takeResults(of: link)
            guard self.link === link else { return }
            guard isOpen else { return lose(.lost(link.handle.lastMessage, about: address.description)) }
        } while link.handle.hasPendingBytes
        if !link.flush() { lose(.lost(link.handle.lastMessage, about: address.description)) }
    }

    private func takeResults(of link: PipelineLink) {
        while self.link === link, let entry = link.unanswered.first, let result = link.next() {
            switch (result.status, entry) {
            case (.synced, .sync):
                link.unanswered.removeFirst()
                handlers.synced(link.takeFailure())
            case (.succeeded, .statement(let index)), (.skipped, .statement(let index)):
                link.unanswered.removeFirst()
                handlers.received(index, result)
            case (.failed, let entry):
                let failure = result.failure(about: text(of: entry))
                // The server ends the connection after this error.
                guard failure.kind != .disconnected else { return lose(failure) }
                link.note(failure)
                // An error of the commit has no statement.
                guard case .statement(let index) = entry else { continue }
                link.unanswered.removeFirst()
                handlers.received(index, result)
            case (.synced, _), (.succeeded, _), (.skipped, _), (.copying, _):
                return lose(.lost("the server sent an unexpected result", about: text(of: entry)))
            }
        }
    }

    private func text(of entry: UnansweredQueue.Entry) -> String {
        switch entry {
        case .statement(let index): statements[index].sql.description
        case .sync: "COMMIT"
        }
    }
}

/// The open connection of a pipeline.
@safe
private final class PipelineLink: EventHandler {
    let handle: PostgresHandle
    var unanswered = UnansweredQueue()
    /// Whether statements can be sent; false from the first failed `send` to the end of the turn.
    var isUsable = true
    weak var owner: PostgresPipeline?
    private let loop: EventLoop
    /// A duplicate of libpq's descriptor, because libpq closes its own one as soon as it detects a failure.
    private let descriptor: FileDescriptor
    private var registration: Registration?
    private let names: [ContiguousArray<CChar>]
    /// The first error of the current batch.
    private var failure: SQLError?

    init(_ handle: PostgresHandle, on loop: EventLoop, statementCount: Int) throws(NetError) {
        self.handle = handle
        self.loop = loop
        names = (0..<statementCount).map { Self.name(of: $0).utf8CString }
        descriptor = try handle.duplicateDescriptor()
        registration = try loop.register(descriptor.rawValue, for: .readable, handler: self)
    }

    /// Returns the name under which the server knows a statement.
    static func name(of index: Int) -> String { "p\(index)" }

    func ready(_ readiness: Readiness) { owner?.receive(from: self) }

    /// Stops watching the connection, which is closed with the last reference to the handle.
    func close() {
        isUsable = false
        if let registration { loop.deregister(registration) }
        registration = nil
    }

    // MARK: Sending

    /// Sends a statement with `PQsendQueryPrepared`.
    func send(
        _ statement: Int, _ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>,
        _ byteCounts: UnsafePointer<Int32>, _ formats: UnsafePointer<Int32>
    ) -> Bool {
        let code = unsafe names[statement].withUnsafeBufferPointer { name in
            unsafe PQsendQueryPrepared(handle.pointer, name.baseAddress, count, values, byteCounts, formats, 1)
        }
        guard code == 1 else { return false }
        unanswered.append(.statement(statement))
        return true
    }

    /// Ends a batch with `PQpipelineSync`.
    func sync() -> Bool {
        guard unsafe PQpipelineSync(handle.pointer) == 1 else { return false }
        unanswered.append(.sync)
        return flush()
    }

    /// Sends what libpq has not sent, and watches the descriptor for writing only if something is left.
    func flush() -> Bool {
        let rest = unsafe PQflush(handle.pointer)
        guard rest >= 0, let registration else { return false }
        do {
            try loop.modify(registration, for: rest == 0 ? .readable : [.readable, .writable])
            return true
        } catch {
            return false
        }
    }

    // MARK: Receiving

    /// Reads what has arrived; returns false at the end of the connection.
    func consume() -> Bool { unsafe PQconsumeInput(handle.pointer) == 1 }

    /// Returns the next result, or nil if it has not arrived completely.
    func next() -> PostgresResult? {
        // After each statement, PQgetResult returns NULL once.
        for _ in 0..<2 {
            guard unsafe PQisBusy(handle.pointer) == 0 else { return nil }
            if let result = unsafe PQgetResult(handle.pointer) { return unsafe PostgresResult(adopting: result) }
        }
        return nil
    }

    /// Remembers the first error of a batch.
    func note(_ failure: SQLError) {
        if self.failure == nil { self.failure = failure }
    }

    /// Returns the first error of the batch that ends.
    func takeFailure() -> SQLError? {
        defer { failure = nil }
        guard failure == nil, handle.takeSkippedStandby() else { return failure }
        return .skippedStandby
    }
}
