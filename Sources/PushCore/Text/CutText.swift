// SPDX-License-Identifier: Apache-2.0

/// A text that grows up to a maximum number of bytes; an ellipsis replaces the part that does not fit.
struct CutText {
    /// The text so far.
    private(set) var text = ""
    /// Whether the text was truncated; further text is ignored.
    private(set) var isFull = false
    private var freeByteCount: Int

    /// Creates an empty text with a maximum size in bytes.
    init(byteCountMax: Int) { freeByteCount = byteCountMax - "…".utf8.count }

    /// Appends the scalars that fit.
    mutating func append(_ scalars: some Sequence<Unicode.Scalar>) {
        for scalar in scalars {
            guard !isFull else { return }
            freeByteCount -= UTF8.width(scalar)
            isFull = freeByteCount < 0
            text.unicodeScalars.append(isFull ? "…" : scalar)
        }
    }
}
