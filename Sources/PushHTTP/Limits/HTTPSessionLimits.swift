// SPDX-License-Identifier: Apache-2.0

/// The session bounds that the owner configures; all sessions share one object.
package final class HTTPSessionLimits: Sendable {
    /// The number of streams open at the same time; HTTP/1.1 has one.
    package let concurrentStreamCountMax: Int
    /// The initial value of SETTINGS_MAX_CONCURRENT_STREAMS.
    package let advertisedStreamCount: Int
    /// The largest size of one request's fields in bytes, each with 32 bytes of overhead; more is answered with 431.
    package let headerListByteCountMax: Int
    /// The value of SETTINGS_MAX_HEADER_LIST_SIZE.
    package let advertisedHeaderListByteCountMax: UInt32
    /// The largest number of fields in one request, pseudo-fields included; more is answered with 431.
    package let headerFieldCountMax: Int

    /// Creates limits; `advertisedStreamCount` defaults to `concurrentStreamCountMax`.
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
