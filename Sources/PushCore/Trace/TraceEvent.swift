// SPDX-License-Identifier: Apache-2.0

/// One line of the trace: a step of one notification on its way to one device.
///
/// Packed into 26 bytes, little-endian; the step that begins a trace has 40 more:
///
/// ```
/// step (1)  detail (1)  sequence (8)  device (8)  UNIX milliseconds (8)
/// accepted: topic (4)  generation (4)  apns-unique-id (16)  apns-id (16)
/// ```
/// The highest bit of an accepting step says that the `apns-id` was written in capitals.
public struct TraceEvent: Equatable, Sendable {
    /// Bytes of every event.
    package static let byteCount = 26
    /// Bytes of the event that begins a trace.
    package static let acceptedByteCount = 66
    private static let capitalsBit: UInt8 = 0x80

    /// What happened.
    public var step: TraceStep
    /// Why.
    public var detail: TraceDetail
    /// The number by which all events of one notification are found together.
    public var sequence: Int64
    /// The device; 0 for a broadcast, where it was accepted or its channel let it go.
    public var device: DeviceID
    /// When, by the server's clock.
    public var unixMilliseconds: Int64
    /// What the notification is; with `accepted` only.
    public var origin: Origin?

    /// What the first event of a trace tells beside.
    public struct Origin: Equatable, Sendable {
        /// The app.
        public var topic: TopicID
        /// The registration's generation in the device token; 0 for a broadcast.
        public var generation: UInt32
        /// `apns-unique-id`.
        public var uniqueID: UniqueID
        /// `apns-id`.
        public var apnsID: UniqueID
        /// Whether the provider wrote it in capitals.
        public var hasCapitals: Bool

        /// Joins the parts.
        public init(
            topic: TopicID, generation: UInt32, uniqueID: UniqueID, apnsID: UniqueID, hasCapitals: Bool = false
        ) {
            self.topic = topic
            self.generation = generation
            self.uniqueID = uniqueID
            self.apnsID = apnsID
            self.hasCapitals = hasCapitals
        }

        /// `apns-id` as the provider wrote it and was answered; in capitals where it mixed them.
        package var apnsIDText: String { apnsID.text(hasCapitals: hasCapitals) }
    }

    /// Joins the parts; `origin` belongs to `accepted` and to nothing else.
    public init(
        _ step: TraceStep, _ detail: TraceDetail = .none, sequence: Int64, device: DeviceID, unixMilliseconds: Int64,
        origin: Origin? = nil
    ) {
        precondition((step == .accepted) == (origin != nil), "the origin goes with the first event and no other")
        self.step = step
        self.detail = detail
        self.sequence = sequence
        self.device = device
        self.unixMilliseconds = unixMilliseconds
        self.origin = origin
    }

    /// Appends the packed form.
    @inline(__always)
    package func append(to output: inout [UInt8]) {
        let (sequence, milliseconds) = (UInt64(bitPattern: sequence), UInt64(bitPattern: unixMilliseconds))
        // In words, of which each holds the end of one member and the beginning of the next: one copy instead of five.
        let first = origin?.hasCapitals == true ? step.rawValue | Self.capitalsBit : step.rawValue
        let words: (UInt64, UInt64, UInt64, UInt64) = (
            (UInt64(first) | UInt64(detail.rawValue) << 8 | sequence << 16).littleEndian,
            (sequence >> 48 | device.rawValue << 16).littleEndian,
            (device.rawValue >> 48 | milliseconds << 16).littleEndian, (milliseconds >> 48).littleEndian
        )
        unsafe withUnsafeBytes(of: words) {
            unsafe output.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<Self.byteCount]))
        }
        guard let origin else { return }
        let more: (UInt64, UInt64, UInt64, UInt64, UInt64) = (
            (UInt64(origin.generation) << 32 | UInt64(origin.topic.rawValue)).littleEndian,
            origin.uniqueID.high.littleEndian, origin.uniqueID.low.littleEndian, origin.apnsID.high.littleEndian,
            origin.apnsID.low.littleEndian
        )
        unsafe withUnsafeBytes(of: more) { unsafe output.append(contentsOf: $0) }
    }

    /// Reads the packed event at an offset, and moves the offset behind it.
    ///
    /// It is nil at the end, and for bytes that are no event.
    ///
    /// - Parameters:
    ///   - bytes: Packed events, one behind the other.
    ///   - offset: Where to read; stays where it is when nothing is read.
    package init?(_ bytes: Span<UInt8>, at offset: inout Int) {
        guard offset >= 0, offset <= bytes.count, bytes.count - offset >= Self.byteCount,
            let step = TraceStep(rawValue: bytes[offset] & ~Self.capitalsBit),
            let detail = TraceDetail(rawValue: bytes[offset + 1])
        else { return nil }
        let hasCapitals = bytes[offset] & Self.capitalsBit != 0
        let byteCount = step == .accepted ? Self.acceptedByteCount : Self.byteCount
        guard bytes.count - offset >= byteCount, step == .accepted || !hasCapitals else { return nil }
        self.step = step
        self.detail = detail
        sequence = Int64(bitPattern: Self.number(in: bytes, at: offset + 2))
        device = DeviceID(rawValue: Self.number(in: bytes, at: offset + 10))
        unixMilliseconds = Int64(bitPattern: Self.number(in: bytes, at: offset + 18))
        if step == .accepted { origin = Origin(bytes, at: offset + 26, hasCapitals: hasCapitals) }
        offset += byteCount
    }

    /// Reads eight bytes; the caller has checked that they are there.
    @inline(__always)
    fileprivate static func number(in bytes: Span<UInt8>, at offset: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in 0..<8 { number |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
        return number
    }
}

extension TraceEvent.Origin {
    fileprivate init(_ bytes: Span<UInt8>, at offset: Int, hasCapitals: Bool) {
        self.hasCapitals = hasCapitals
        let address = TraceEvent.number(in: bytes, at: offset)
        topic = TopicID(rawValue: UInt32(truncatingIfNeeded: address))
        generation = UInt32(truncatingIfNeeded: address >> 32)
        uniqueID = UniqueID(
            high: TraceEvent.number(in: bytes, at: offset + 8), low: TraceEvent.number(in: bytes, at: offset + 16))
        apnsID = UniqueID(
            high: TraceEvent.number(in: bytes, at: offset + 24), low: TraceEvent.number(in: bytes, at: offset + 32))
    }
}
