// SPDX-License-Identifier: Apache-2.0

/// The bounds of a session that its owner chooses.
package struct HTTPSessionLimits: Sendable {
    /// Streams open at once; HTTP/1.1 has one.
    package var concurrentStreamCountMax: Int
    /// What the peer is told at first about `concurrentStreamCountMax` (SETTINGS_MAX_CONCURRENT_STREAMS).
    package var advertisedStreamCount: Int
    /// Bytes of one request's fields, each with 32 bytes of overhead; more is answered with 431.
    package var headerListByteCountMax: Int
    /// What the peer is told about `headerListByteCountMax` (SETTINGS_MAX_HEADER_LIST_SIZE).
    package var advertisedHeaderListByteCountMax: UInt32
    /// Fields of one request, pseudo-fields included; more is answered with 431.
    package var headerFieldCountMax: Int

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
