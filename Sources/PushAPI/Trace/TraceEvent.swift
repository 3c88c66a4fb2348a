// SPDX-License-Identifier: Apache-2.0

public import PushCore

/// An event of the trace: one step of a notification on its way to one device.
///
/// The packed form has 30 bytes, little-endian. The event that begins a trace has 36 more:
///
/// ```
/// step (1)  detail (1)  sequence (8)  device (8)  UNIX milliseconds (8)  topic (4)
/// accepted: generation (4)  apns-unique-id (16)  apns-id (16)
/// ```
/// The highest bit of an `accepted` step marks an `apns-id` that was written in uppercase.
public struct TraceEvent: Equatable, Sendable {
    /// The packed size of every event, in bytes.
    package static let byteCount = 30
    /// The additional packed size of the event that begins a trace, in bytes.
    static let acceptedByteCount = 66
    private static let capitalsBit: UInt8 = 0x80

    public var step: TraceStep
    /// The reason for the step.
    public var detail: TraceDetail
    /// The number that all events of one notification share.
    public var sequence: Int64
    /// The device; 0 for a broadcast as a whole, when it is accepted or its channel discards it.
    public var device: DeviceID
    /// The time of the event by the server's clock.
    public var at: Timestamp
    /// The app; a reader that follows one app uses it to skip the events of all others.
    public var topic: TopicID
    /// The identity of the notification; present only with `accepted`.
    public var origin: Origin?

    /// The additional contents of the first event of a trace.
    public struct Origin: Equatable, Sendable {
        public var topic: TopicID
        /// The generation of the registration in the device token; 0 for a broadcast.
        public var generation: UInt32
        public var uniqueID: UniqueID
        public var apnsID: UniqueID
        /// Whether the provider wrote the `apns-id` in uppercase.
        public var hasCapitals: Bool

        public init(
            topic: TopicID, generation: UInt32, uniqueID: UniqueID, apnsID: UniqueID, hasCapitals: Bool = false
        ) {
            self.topic = topic
            self.generation = generation
            self.uniqueID = uniqueID
            self.apnsID = apnsID
            self.hasCapitals = hasCapitals
        }

        /// The `apns-id` as the server returned it; in uppercase when the provider mixed the cases.
        package var apnsIDText: String { apnsID.text(hasCapitals: hasCapitals) }
    }

    /// Creates an event that continues a trace.
    ///
    /// - Parameters:
    ///   - step: A step other than `accepted`, which needs an origin to be packed.
    ///   - detail: The reason for the step.
    ///   - sequence: The number of the notification.
    ///   - topic: The app.
    ///   - device: The device; 0 for a broadcast as a whole.
    ///   - time: The time of the event.
    public init(
        _ step: TraceStep, _ detail: TraceDetail = .none, sequence: Int64, topic: TopicID, device: DeviceID,
        at time: Timestamp
    ) {
        precondition(step != .accepted, "an accepting event has an origin")
        self.step = step
        self.detail = detail
        self.sequence = sequence
        self.device = device
        at = time
        self.topic = topic
    }

    /// Creates the event that begins a trace.
    ///
    /// - Parameters:
    ///   - origin: The identity of the notification.
    ///   - detail: The reason for the step.
    ///   - sequence: The number of the notification.
    ///   - device: The device; 0 for a broadcast.
    ///   - time: The time of the event.
    public init(
        accepted origin: Origin, _ detail: TraceDetail = .none, sequence: Int64, device: DeviceID, at time: Timestamp
    ) {
        step = .accepted
        self.detail = detail
        self.sequence = sequence
        self.device = device
        at = time
        topic = origin.topic
        self.origin = origin
    }

    /// The size of the packed form.
    package var packedByteCount: Int { origin == nil ? Self.byteCount : Self.acceptedByteCount }

    /// Appends the packed form.
    @inline(__always)
    package func append(to output: inout [UInt8]) {
        let (sequence, milliseconds) = (UInt64(bitPattern: sequence), UInt64(bitPattern: at.unixMilliseconds))
        // Each word holds the end of one member and the start of the next, so one copy replaces five.
        let first = origin?.hasCapitals == true ? step.rawValue | Self.capitalsBit : step.rawValue
        let words: (UInt64, UInt64, UInt64, UInt64) = (
            (UInt64(first) | UInt64(detail.rawValue) << 8 | sequence << 16).littleEndian,
            (sequence >> 48 | device.rawValue << 16).littleEndian,
            (device.rawValue >> 48 | milliseconds << 16).littleEndian,
            (milliseconds >> 48 | UInt64(topic.rawValue) << 16).littleEndian
        )
        unsafe withUnsafeBytes(of: words) {
            unsafe output.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<Self.byteCount]))
        }
        guard let origin else { return }
        unsafe withUnsafeBytes(of: origin.generation.littleEndian) { unsafe output.append(contentsOf: $0) }
        let more: (UInt64, UInt64, UInt64, UInt64) = (
            origin.uniqueID.high.littleEndian, origin.uniqueID.low.littleEndian, origin.apnsID.high.littleEndian,
            origin.apnsID.low.littleEndian
        )
        unsafe withUnsafeBytes(of: more) { unsafe output.append(contentsOf: $0) }
    }

    /// Reads the packed event at an offset, and advances the offset past it.
    ///
    /// The result is nil at the end, and for bytes that are not an event.
    ///
    /// - Parameters:
    ///   - bytes: The packed events, one after the other.
    ///   - offset: The offset of the event; unchanged when the result is nil.
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
        at = Timestamp(unixMilliseconds: Int64(bitPattern: Self.number(in: bytes, at: offset + 18)))
        topic = TopicID(rawValue: Self.shortNumber(in: bytes, at: offset + 26))
        if step == .accepted {
            origin = Origin(bytes, at: offset + Self.byteCount, topic: topic, hasCapitals: hasCapitals)
        }
        offset += byteCount
    }

    /// Reads four bytes; the caller has checked the bounds.
    @inline(__always)
    fileprivate static func shortNumber(in bytes: Span<UInt8>, at offset: Int) -> UInt32 {
        var number: UInt32 = 0
        for index in 0..<4 { number |= UInt32(bytes[offset + index]) << UInt32(8 * index) }
        return number
    }

    /// Reads eight bytes; the caller has checked the bounds.
    @inline(__always)
    fileprivate static func number(in bytes: Span<UInt8>, at offset: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in 0..<8 { number |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
        return number
    }
}

extension TraceEvent.Origin {
    fileprivate init(_ bytes: Span<UInt8>, at offset: Int, topic: TopicID, hasCapitals: Bool) {
        self.topic = topic
        self.hasCapitals = hasCapitals
        generation = TraceEvent.shortNumber(in: bytes, at: offset)
        uniqueID = UniqueID(
            high: TraceEvent.number(in: bytes, at: offset + 4), low: TraceEvent.number(in: bytes, at: offset + 12))
        apnsID = UniqueID(
            high: TraceEvent.number(in: bytes, at: offset + 20), low: TraceEvent.number(in: bytes, at: offset + 28))
    }
}
