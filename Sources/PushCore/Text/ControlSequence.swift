// SPDX-License-Identifier: Apache-2.0

/// Detects which scalars of a text belong to terminal control sequences.
///
/// ```
///            ESC                 [                     @ to ~
///  ──▶ text ─────▶ after escape ─────▶ control sequence ─────▶ text
///                       │   ] P X ^ _
///                       ├─────────────▶ control string ── ESC \, BEL ──▶ text
///                       │   space to /                  0 to ~
///                       ├─────────────▶ intermediates ──────────▶ text
///                       │   0 to ~
///                       └─────────────▶ text
/// ```
///
/// U+0080 to U+009F stand for ESC and the character that is 0x40 lower. CAN and SUB end any sequence. ESC ends a
/// sequence and begins another.
///
/// - SeeAlso: ECMA-48, sections 5.3 to 5.6
struct ControlSequence {
    private enum State {
        case text
        case afterEscape
        case intermediates
        case controlSequence
        case controlString
    }

    private var state = State.text

    /// Consumes the next scalar of the text; returns whether it belongs to a control sequence.
    mutating func takes(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1B:
            state = .afterEscape
            return true
        case 0x18, 0x1A:
            state = .text
            return true
        case 0x80...0x9F:
            begin(with: scalar.value - 0x40)
            return true
        case let value:
            return takesOther(value)
        }
    }

    private mutating func takesOther(_ value: UInt32) -> Bool {
        switch state {
        case .text:
            return false
        case .afterEscape:
            begin(with: value)
            // A scalar that cannot follow ESC is ordinary text.
            return 0x20...0x7E ~= value
        case .intermediates:
            if !(0x20...0x2F ~= value) { state = .text }
            return 0x20...0x7E ~= value
        case .controlSequence:
            if !(0x20...0x3F ~= value) { state = .text }
            return 0x20...0x7E ~= value
        case .controlString:
            if value == 0x07 { state = .text }
            return true
        }
    }

    /// Enters the state for the scalar after ESC.
    private mutating func begin(with value: UInt32) {
        switch value {
        case 0x5B: state = .controlSequence
        case 0x5D, 0x50, 0x58, 0x5E, 0x5F: state = .controlString
        case 0x20...0x2F: state = .intermediates
        default: state = .text
        }
    }
}
