// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL

/// Buffers trace events in memory until they are written as a row, so that an event does not cost an SQL statement.
///
/// A transaction that ends a notification, or records another event, also writes the buffer. Events between
/// transactions, such as a delivery, wait for such a transaction, at most for `WriterLimits.writeDelayMilliseconds`.
///
/// The events *accepted* and *stored* of a stored notification also wait. Its row has the position of *stored*. If a
/// crash comes before these events are written, `TraceRecovery` records both again. A stored notification therefore has
/// both in its trace after any crash.
///
/// Only the writer's thread uses the recorder. It does nothing when the trace is disabled.
final class TraceRecorder {
    /// The bounds and the summary of a row that is not written yet.
    private struct Piece {
        /// The end of the piece in `bytes`.
        var end = 0
        var firstEventAt = Timestamp.distantFuture
        var lastEventAt = Timestamp.distantPast
        var lastSequence: Int64
    }

    let isOn: Bool
    /// The position of the first unwritten byte in the stream.
    private var position: Int64
    private var writtenSequence: Int64
    private var bytes: [UInt8] = []
    /// The pieces that are large enough to be rows.
    private var pieces: [Piece] = []
    private var piece: Piece
    /// The state of the buffer before the transaction.
    private var mark: (byteCount: Int, pieceCount: Int, piece: Piece)
    /// Whether the current transaction wrote `bytes`.
    private var isFlushed = false
    private var mustFlush = false
    /// The events that wait for the transaction of the next deletions.
    private var held: [TraceEvent] = []
    /// Whether the current transaction took over the held events.
    private var isReleased = false

    /// Continues at the end of the table's events.
    init(isOn: Bool, _ table: TraceTable) throws(SQLError) {
        self.isOn = isOn
        let end = try table.end()
        position = end.position
        writtenSequence = end.lastSequence
        piece = Piece(lastSequence: end.lastSequence)
        mark = (0, 0, piece)
    }

    /// Whether the buffer contains unwritten events.
    var hasUnwritten: Bool { !bytes.isEmpty }

    /// Whether the buffer is large enough to be written now.
    var isFull: Bool { bytes.count >= WriterLimits.traceFlushByteCount }

    /// The end of the written stream, and the last sequence before it.
    var end: (position: Int64, lastSequence: Int64) { (position, writtenSequence) }

    /// The position of the next event.
    var nextPosition: Int64 { position + Int64(bytes.count) }

    // MARK: Recording

    /// Records that a notification was accepted, the first event of every notification.
    ///
    /// - Parameters:
    ///   - notification: The notification; a broadcast is not addressed to a device yet.
    ///   - sequence: The notification's sequence.
    ///   - isStored: Whether the current transaction writes the notification, so that it must write the event too.
    ///   - now: The current time.
    func recordAccepted(_ notification: Notification, sequence: Int64, isStored: Bool, at now: Timestamp) {
        guard isOn else { return }
        add(TraceEvent(accepting: notification, sequence: sequence, at: now))
        piece.lastSequence = max(piece.lastSequence, sequence)
        if isStored { mustFlush = true }
    }

    /// Records an event of the current transaction, which must write it.
    @inline(__always)
    func record(
        _ step: TraceStep, _ detail: TraceDetail = .none, of sequence: Int64, _ topic: TopicID, on device: DeviceID,
        at now: Timestamp
    ) {
        guard isOn else { return }
        add(TraceEvent(step, detail, sequence: sequence, topic: topic, device: device, at: now))
        mustFlush = true
    }

    /// Records an event between transactions, which may wait for the next one.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - detail: The reason for the step.
    ///   - sequence: The notification's sequence.
    ///   - topic: The notification's topic.
    ///   - device: The device.
    ///   - now: The current time.
    ///   - waits: Whether the event waits for the transaction of the next deletions. After a crash, the trace then has
    ///     no acknowledgement of a notification that still exists.
    @inline(__always)
    func recordLater(
        _ step: TraceStep, _ detail: TraceDetail = .none, of sequence: Int64, _ topic: TopicID, on device: DeviceID,
        at now: Timestamp, withDeletions waits: Bool = false
    ) {
        guard isOn else { return }
        let event = TraceEvent(step, detail, sequence: sequence, topic: topic, device: device, at: now)
        if waits { held.append(event) } else { add(event) }
    }

    private func add(_ event: TraceEvent) {
        // The buffer reaches this size only while the disk stays full for a long time; then the trace has a gap.
        guard bytes.count < WriterLimits.traceBufferByteCountMax else { return }
        event.append(to: &bytes)
        piece.firstEventAt = min(piece.firstEventAt, event.at)
        piece.lastEventAt = max(piece.lastEventAt, event.at)
        piece.end = bytes.count
        if bytes.count - (pieces.last?.end ?? 0) >= WriterLimits.traceRowByteCount {
            pieces.append(piece)
            piece = Piece(end: bytes.count, lastSequence: piece.lastSequence)
        }
    }

    // MARK: A transaction

    /// Starts a transaction.
    func begin() {
        mark = (bytes.count, pieces.count, piece)
        mustFlush = false
        isFlushed = false
        isReleased = false
    }

    /// Takes over the held events in the transaction that writes the deletions.
    func releaseHeld() {
        guard !isReleased else { return }
        isReleased = true
        for event in held { add(event) }
    }

    /// Makes the next `flushIfDue` write the buffer, regardless of its size.
    func flushSoon() { mustFlush = hasUnwritten }

    /// Writes the buffer if this transaction recorded an event or the buffer is full; the last step of a transaction.
    func flushIfDue(into table: TraceTable) throws(SQLError) {
        guard mustFlush || isFull, !bytes.isEmpty else { return }
        var start = 0
        for piece in pieces + [piece] where piece.end > start {
            try table.append(
                TraceTable.Row(
                    position: position + Int64(start), firstEventAt: piece.firstEventAt,
                    lastEventAt: piece.lastEventAt, lastSequence: piece.lastSequence,
                    events: start == 0 && piece.end == bytes.count ? bytes : Array(bytes[start..<piece.end])))
            start = piece.end
        }
        isFlushed = true
    }

    /// Empties the buffer after the transaction that wrote it was committed.
    func committed() {
        if isReleased { held.removeAll(keepingCapacity: held.count <= WriterLimits.commandsPerTransactionCountMax) }
        isReleased = false
        guard isFlushed else { return }
        position += Int64(bytes.count)
        bytes.removeAll(keepingCapacity: bytes.count <= 2 * WriterLimits.traceFlushByteCount)
        pieces = []
        piece = Piece(lastSequence: piece.lastSequence)
        writtenSequence = piece.lastSequence
        isFlushed = false
        mark = (0, 0, piece)
    }

    /// Discards the events of the transaction that was rolled back.
    func rolledBack() {
        bytes.removeLast(bytes.count - mark.byteCount)
        pieces.removeLast(pieces.count - mark.pieceCount)
        piece = mark.piece
        isFlushed = false
        isReleased = false
    }
}
