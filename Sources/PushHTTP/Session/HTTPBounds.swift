// SPDX-License-Identifier: Apache-2.0

/// The bounds of every session that nobody needs to choose.
///
/// A *glitch* is a frame that costs the peer nothing and asks for nothing. A client that works has few; nghttp2 1.52
/// absorbs most kinds without limit.
package enum HTTPBounds {
    /// Glitches that a session takes at once; then it ends with ENHANCE_YOUR_CALM.
    package static let glitchCountMax = 1000
    /// Glitches a second that a session takes for ever.
    package static let glitchCountPerSecond = 100
    /// A PING counts as this many glitches, since each is answered: 20 a second are taken for ever.
    package static let glitchesPerPing = 5
    /// A SETTINGS frame counts as this many, since each touches all streams: 10 a second are taken for ever.
    package static let glitchesPerSettings = 10
    /// A DATA frame without a byte that does not end its stream counts as this many.
    package static let glitchesPerEmptyData = 4
    /// A GOAWAY counts as this many.
    package static let glitchesPerGoAway = 10
    /// Any other cheap frame: PRIORITY, WINDOW_UPDATE, padding instead of data, unknown types.
    package static let glitchesPerOtherFrame = 1
    /// WINDOW_UPDATE frames that are no glitch, for each DATA frame that we sent: one for its stream, one for all.
    package static let windowUpdatesPerSentData = 2
    /// WINDOW_UPDATE frames that are no glitch, for each request: some clients widen the window of every stream they open.
    package static let windowUpdatesPerRequest = 1
    /// At most this many WINDOW_UPDATE frames can be owed to us.
    package static let windowUpdateAllowanceMax = 4096

    /// Streams that we reset at once for what the peer did on them; then the session ends with ENHANCE_YOUR_CALM.
    package static let sentResetCountMax = 100
    /// Streams a second that we reset for ever.
    package static let sentResetCountPerSecond = 5
    /// Streams open at once until the owner allows more: what a client may assume before it has read SETTINGS.
    package static let streamCountBeforeAuthentication = 100
    /// Bytes that a session may hold unless its owner chooses another number.
    package static let retainedByteCountMax = 4 << 20
    /// Bytes counted for each open exchange beside its buffers.
    package static let exchangeByteCount = 512
    /// Room that must be left for a new stream, in times `headerListByteCountMax`: arrays double as they grow.
    package static let streamReserveFactor = 2
    /// The session ends when answers and refusals that wait make it hold this many times `retainedByteCountMax`.
    package static let overfullFactor = 2
    /// Spare buffers may hold one part in this many of `retainedByteCountMax`.
    package static let spareShare = 16
    /// Streams open at once before an authenticated peer has acknowledged our SETTINGS.
    package static let earlyStreamCountMax = 2000
    /// Streams refused before the peer has acknowledged our SETTINGS or was allowed more, which no bucket counts.
    package static let earlyRefusalCountMax = 1000
    /// Streams that the peer resets at once (nghttp2 counts these); then the session ends.
    package static let receivedResetCountMax: UInt64 = 200
    /// Streams a second that the peer resets for ever.
    package static let receivedResetCountPerSecond: UInt64 = 20

    /// Unsent acknowledgements of PING and SETTINGS.
    package static let unsentAcknowledgementCountMax = 100
    /// CONTINUATION frames of one header block.
    package static let continuationCountMax = 4
    /// Entries of one SETTINGS frame.
    package static let settingsEntryCountMax = 32
    /// The HPACK table that the peer may fill (SETTINGS_HEADER_TABLE_SIZE), bytes.
    package static let headerTableByteCount: UInt32 = 4096
    /// How much the peer may upload on all streams before we take it, bytes.
    package static let connectionWindowByteCount: Int32 = 1 << 20
    /// Bytes of one DATA frame of ours, which every peer must take (RFC 9113, section 4.2).
    package static let frameByteCountMax = 16_384
    /// From this many times `headerListByteCountMax` on a request is reset instead of answered with 431.
    package static let headerListResetFactor = 4
    /// Exchanges, and buffers for fields of answers, that a session keeps for re-use.
    package static let pooledExchangeCountMax = 128
    /// Buffers for bodies of requests that a session keeps for re-use.
    package static let spareBufferCountMax = 8
    /// Bytes of debug data in a GOAWAY frame; more is cut off.
    package static let debugDataByteCountMax = 1024

    /// Body bytes that are read and dropped after an early answer, so that the peer gets to read it.
    package static let drainedByteCountMax = 262_144
    /// HTTP/2 streams at once whose bodies are dropped so; further ones are reset at once.
    package static let drainedStreamCountMax = 100
    /// How long the body of an HTTP/2 stream is dropped so: 10 seconds.
    package static let drainPatienceNanoseconds: UInt64 = 10_000_000_000

    /// One line of an HTTP/1.1 chunk's size with its extensions, bytes.
    package static let chunkLineByteCountMax = 256
    /// HTTP/1.1 bytes that wait behind an unfinished exchange; more ends the session.
    package static let pipelinedByteCountMax = 65_536
    /// Empty lines before an HTTP/1.1 request line.
    package static let leadingEmptyLineCountMax = 1
}
