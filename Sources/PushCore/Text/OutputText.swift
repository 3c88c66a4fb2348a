// SPDX-License-Identifier: Apache-2.0

/// Operations that append to space that an encoder has reserved in one step, so no append checks or grows an array.
extension OutputSpan<UInt8> {
    /// Appends all bytes of a span, which must fit.
    package mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
    }

    /// Appends the bytes of a literal, which must fit.
    package mutating func append(literal text: StaticString) {
        // A `StaticString` lives as long as the program.
        unsafe append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inline(__always)
    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        precondition(bytes.count <= freeCapacity, "an encoder reserved too little space")
        unsafe withUnsafeMutableBufferPointer { space, count in
            guard let start = space.baseAddress, let source = bytes.baseAddress else { return }
            // In bounds: the precondition has checked the free capacity.
            unsafe (start + count).initialize(from: source, count: bytes.count)
            count &+= bytes.count
        }
    }
}
