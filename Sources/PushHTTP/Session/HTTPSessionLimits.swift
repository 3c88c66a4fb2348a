// SPDX-License-Identifier: Apache-2.0

/// The bounds of sessions that their owner chooses; one object serves all of them.
package final class HTTPSessionLimits: Sendable {
    /// Streams open at once; HTTP/1.1 has one.
    package let concurrentStreamCountMax: Int
    /// What the peer is told at first about `concurrentStreamCountMax` (SETTINGS_MAX_CONCURRENT_STREAMS).
    package let advertisedStreamCount: Int
    /// Bytes of one request's fields, each with 32 bytes of overhead; more is answered with 431.
    package let headerListByteCountMax: Int
    /// What the peer is told about `headerListByteCountMax` (SETTINGS_MAX_HEADER_LIST_SIZE).
    package let advertisedHeaderListByteCountMax: UInt32
    /// Fields of one request, pseudo-fields included; more is answered with 431.
    package let headerFieldCountMax: Int

    /// Sets each bound.
    package init(
        concurrentStreamCountMax: Int, advertisedStreamCount: Int? = nil, headerListByteCountMax: Int,
        advertisedHeaderListByteCountMax: UInt32,
        headerFieldCountMax: Int
    ) {
        self.concurrentStreamCountMax = concurrentStreamCountMax
        self.advertisedStreamCount = advertisedStreamCount ?? concurrentStreamCountMax
        self.headerListByteCountMax = headerListByteCountMax
        self.advertisedHeaderListByteCountMax = advertisedHeaderListByteCountMax
        self.headerFieldCountMax = headerFieldCountMax
    }
}
