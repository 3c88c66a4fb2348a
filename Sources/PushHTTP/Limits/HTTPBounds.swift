// SPDX-License-Identifier: Apache-2.0

/// The session bounds that are fixed rather than configured.
///
/// A *glitch* is a frame that costs the peer nothing and requests nothing. A well-behaved client sends few glitches.
/// nghttp2 1.52 absorbs most kinds without limit.
enum HTTPBounds {
    /// The number of glitches accepted in one burst; beyond it, the session ends with ENHANCE_YOUR_CALM.
    static let glitchCountMax = 1000
    /// The number of glitches accepted each second without end.
    static let glitchCountPerSecond = 100
    /// The number of glitches that a PING costs, since we answer each: 20 a second are accepted without end.
    static let glitchesPerPing = 5
    /// The number of glitches that a SETTINGS frame costs, since each affects all streams: 10 a second are accepted
    /// without end.
    static let glitchesPerSettings = 10
    /// The number of glitches that an empty DATA frame costs if it does not end its stream.
    static let glitchesPerEmptyData = 4
    /// The number of glitches that a GOAWAY costs.
    static let glitchesPerGoAway = 10
    /// The number of glitches that any other cheap frame costs: PRIORITY, WINDOW_UPDATE, padding instead of data,
    /// unknown types.
    static let glitchesPerOtherFrame = 1
    /// The free WINDOW_UPDATE frames for each DATA frame that we send: one for its stream, one for the connection.
    static let windowUpdatesPerSentData = 2
    /// The free WINDOW_UPDATE frames for each request: some clients widen the window of every stream that they open.
    static let windowUpdatesPerRequest = 1
    /// The largest number of free WINDOW_UPDATE frames that a peer can save up.
    static let windowUpdateAllowanceMax = 4096

    /// The number of streams that we reset in one burst because of peer errors; beyond it, the session ends with
    /// ENHANCE_YOUR_CALM.
    static let sentResetCountMax = 100
    /// The number of streams that we reset each second without end.
    static let sentResetCountPerSecond = 5
    /// The number of open streams until the owner allows more: a client may assume this many before it has read
    /// SETTINGS.
    static let streamCountBeforeAuthentication = 100
    /// The default for the number of bytes that a session may hold.
    static let retainedByteCountMax = 4 << 20
    /// The number of bytes counted for each open exchange in addition to its buffers.
    static let exchangeByteCount = 512
    /// The free space that a new stream requires, in multiples of `headerListByteCountMax`: arrays double as they grow.
    static let streamReserveFactor = 2
    /// The multiple of `retainedByteCountMax` at which waiting answers and refusals end the session.
    static let overfullFactor = 2
    /// The divisor of `retainedByteCountMax` that bounds the bytes in spare buffers.
    static let spareShare = 16
    /// The number of open streams before an authenticated peer has acknowledged our SETTINGS.
    static let earlyStreamCountMax = 2000
    /// The number of refused streams that no bucket counts, before the peer has acknowledged our SETTINGS or was
    /// allowed more.
    static let earlyRefusalCountMax = 1000
    /// The number of streams that the peer may reset in one burst (nghttp2 counts these); beyond it, the session ends.
    static let receivedResetCountMax: UInt64 = 200
    /// The number of streams that the peer may reset each second without end.
    static let receivedResetCountPerSecond: UInt64 = 20

    /// The largest number of unsent acknowledgements of PING and SETTINGS.
    static let unsentAcknowledgementCountMax = 100
    /// The largest number of CONTINUATION frames in one header block.
    static let continuationCountMax = 4
    /// The largest number of entries in one SETTINGS frame.
    static let settingsEntryCountMax = 32
    /// The size of the HPACK table that the peer may fill (SETTINGS_HEADER_TABLE_SIZE), in bytes.
    static let headerTableByteCount: UInt32 = 4096
    /// The number of answers on a session whose fields are all put into the HPACK table.
    static let indexedAnswerCountMax = 4
    /// The number of bytes of a connection's first frames that are answered without an nghttp2 session.
    static let openingByteCountMax = 256
    /// The number of PINGs that are answered without an nghttp2 session.
    static let openingPingCountMax = 16
    /// The number of bytes that the peer may upload on all streams together before we read them.
    static let connectionWindowByteCount: Int32 = 1 << 20
    /// The payload size of our DATA frames in bytes, which every peer must accept (RFC 9113, section 4.2).
    static let frameByteCountMax = 16_384
    /// The multiple of `headerListByteCountMax` from which a request is reset instead of answered with 431.
    static let headerListResetFactor = 4
    /// The number of exchanges, and of buffers for answer fields, that a session keeps for reuse.
    static let pooledExchangeCountMax = 128
    /// The number of request body buffers that a session keeps for reuse.
    static let spareBufferCountMax = 8
    /// The largest debug data of a GOAWAY frame in bytes; the rest is cut off.
    static let debugDataByteCountMax = 1024

    /// The number of body bytes that are read and discarded after an early answer, so that the peer can read the
    /// answer.
    static let drainedByteCountMax = 262_144
    /// The number of HTTP/2 streams drained at the same time; further streams are reset immediately.
    static let drainedStreamCountMax = 100
    /// The longest time that the body of an HTTP/2 stream is drained: 10 seconds.
    static let drainTimeoutNanoseconds: Int64 = 10_000_000_000

    /// The longest HTTP/1.1 chunk-size line with its extensions, in bytes.
    static let chunkLineByteCountMax = 256
    /// The number of HTTP/1.1 bytes that may wait behind an unfinished exchange; more ends the session.
    static let pipelinedByteCountMax = 65_536
    /// The number of empty lines allowed before an HTTP/1.1 request line.
    static let leadingEmptyLineCountMax = 1
}
