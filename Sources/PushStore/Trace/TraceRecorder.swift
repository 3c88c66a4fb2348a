// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Gathers the events of the trace in memory, until they are written as a row of the stream: no SQL statement per event.
///
/// What a transaction records is written by that same transaction, so that a notification that was accepted has its
/// trace after any crash. What happens between transactions (a notification is sent) waits for the next one, or for
/// `WriterLimits.traceFlushMilliseconds`. On the writer's thread; does nothing when the trace is off.
final class TraceRecorder {
    /// What bounds a row, and what is known of it before it is written.
    private struct Piece {
        /// Where it ends in `bytes`.
        var end = 0
        var firstUnixMilliseconds = Int64.max
        var lastUnixMilliseconds = Int64.min
        var lastSequence: Int64
    }

    let isOn: Bool
    /// Where the first byte that is not written goes.
    private var position: Int64
    private var writtenSequence: Int64
    private var bytes: [UInt8] = []
    /// Pieces that are long enough to be rows.
    private var pieces: [Piece] = []
    private var piece: Piece
    /// Where things stood before the transaction.
    private var mark: (byteCount: Int, pieceCount: Int, piece: Piece)
    /// Whether `bytes` were written by the transaction that goes on.
    private var isFlushed = false
    private var mustFlush = false

    /// Goes on at the end of what the table holds.
    init(isOn: Bool, _ table: TraceTable) throws(SQLiteError) {
        self.isOn = isOn
        let end = try table.end()
        position = end.position
        writtenSequence = end.lastSequence
        piece = Piece(lastSequence: end.lastSequence)
        mark = (0, 0, piece)
    }

    /// Whether something waits to be written.
    var hasUnwritten: Bool { !bytes.isEmpty }

    /// Whether so much waits that it should be written now.
    var isFull: Bool { bytes.count >= WriterLimits.traceRowByteCount }

    /// The end of the stream that is written, and the last sequence before it.
    var end: (position: Int64, lastSequence: Int64) { (position, writtenSequence) }

    /// Where the next event will be.
    var nextPosition: Int64 { position + Int64(bytes.count) }

    // MARK: Recording

    /// Records that a notification was accepted; every trace begins with this.
    ///
    /// - Parameters:
    ///   - notification: The notification; a broadcast is not addressed to a device yet.
    ///   - sequence: Its number.
    ///   - isStored: Whether this transaction writes it, and so has to write its trace.
    ///   - now: UNIX milliseconds.
    func recordAccepted(_ notification: Notification, sequence: Int64, isStored: Bool, at now: Int64) {
        guard isOn else { return }
        let (address, apnsID, isBroadcast) = (notification.address, notification.apnsID, notification.channel != nil)
        let origin = TraceEvent.Origin(
            topic: address.topic, generation: isBroadcast ? 0 : address.generation, uniqueID: notification.uniqueID,
            apnsID: UniqueID(apnsID.span) ?? UniqueID(high: 0, low: 0),
            hasCapitals: UniqueID.hasCapitals(apnsID.span))
        add(
            TraceEvent(
                .accepted, sequence: sequence, device: isBroadcast ? DeviceID(rawValue: 0) : address.device,
                unixMilliseconds: now, origin: origin))
        piece.lastSequence = max(piece.lastSequence, sequence)
        if isStored { mustFlush = true }
    }

    /// Records what a transaction does with a notification.
    @inline(__always)
    func record(
        _ step: TraceStep, _ detail: TraceDetail = .none, of sequence: Int64, on device: DeviceID, at now: Int64
    ) {
        guard isOn else { return }
        add(TraceEvent(step, detail, sequence: sequence, device: device, unixMilliseconds: now))
        mustFlush = true
    }

    /// Records what happens between transactions, and may wait for the next one.
    @inline(__always)
    func recordLater(
        _ step: TraceStep, _ detail: TraceDetail = .none, of sequence: Int64, on device: DeviceID, at now: Int64
    ) {
        guard isOn else { return }
        add(TraceEvent(step, detail, sequence: sequence, device: device, unixMilliseconds: now))
    }

    private func add(_ event: TraceEvent) {
        // Only a disk that stays full for long gets here; then the trace has a gap.
        guard bytes.count < WriterLimits.traceBufferByteCountMax else { return }
        event.append(to: &bytes)
        piece.firstUnixMilliseconds = min(piece.firstUnixMilliseconds, event.unixMilliseconds)
        piece.lastUnixMilliseconds = max(piece.lastUnixMilliseconds, event.unixMilliseconds)
        piece.end = bytes.count
        if bytes.count - (pieces.last?.end ?? 0) >= WriterLimits.traceRowByteCount {
            pieces.append(piece)
            piece = Piece(end: bytes.count, lastSequence: piece.lastSequence)
        }
    }

    // MARK: A transaction

    /// Begins a transaction.
    func begin() {
        mark = (bytes.count, pieces.count, piece)
        mustFlush = false
        isFlushed = false
    }

    /// Has the next `flushIfDue` write what waits, however little it is.
    func flushSoon() { mustFlush = hasUnwritten }

    /// Writes what waits, if this transaction recorded something or enough has gathered; as its last thing.
    func flushIfDue(into table: TraceTable) throws(SQLiteError) {
        guard mustFlush || isFull, !bytes.isEmpty else { return }
        var start = 0
        for piece in pieces + [piece] where piece.end > start {
            try table.append(
                TraceTable.Row(
                    position: position + Int64(start), firstUnixMilliseconds: piece.firstUnixMilliseconds,
                    lastUnixMilliseconds: piece.lastUnixMilliseconds, lastSequence: piece.lastSequence,
                    events: start == 0 && piece.end == bytes.count ? bytes : Array(bytes[start..<piece.end])))
            start = piece.end
        }
        isFlushed = true
    }

    /// The transaction is committed.
    func committed() {
        guard isFlushed else { return }
        position += Int64(bytes.count)
        bytes.removeAll(keepingCapacity: bytes.count <= 4 * WriterLimits.traceRowByteCount)
        pieces = []
        piece = Piece(lastSequence: piece.lastSequence)
        writtenSequence = piece.lastSequence
        isFlushed = false
        mark = (0, 0, piece)
    }

    /// The transaction failed: what it recorded did not happen.
    func rolledBack() {
        bytes.removeLast(bytes.count - mark.byteCount)
        pieces.removeLast(pieces.count - mark.pieceCount)
        piece = mark.piece
        isFlushed = false
    }
}
