// SPDX-License-Identifier: Apache-2.0

/// A text that grows up to a number of bytes; an ellipsis stands for what did not fit.
struct CutText {
    /// The text so far.
    private(set) var text = ""
    /// Whether the ellipsis is there: nothing more is taken.
    private(set) var isFull = false
    private var freeByteCount: Int

    /// Begins empty, with room for so many bytes.
    init(byteCountMax: Int) { freeByteCount = byteCountMax - "…".utf8.count }

    /// Takes what fits.
    mutating func append(_ scalars: some Sequence<Unicode.Scalar>) {
        for scalar in scalars {
            guard !isFull else { return }
            freeByteCount -= UTF8.width(scalar)
            isFull = freeByteCount < 0
            text.unicodeScalars.append(isFull ? "…" : scalar)
        }
    }
}
