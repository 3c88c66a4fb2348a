// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Writes server-sent events.
///
/// - SeeAlso: HTML Living Standard, section 9.2.5, "Parsing an event stream"
package enum EventStream {
    /// Appends an empty comment, which keeps the connection alive without an event.
    package static func appendComment(to output: inout [UInt8]) {
        output.append(": \n\n")
    }

    /// Appends an event; each line of its data gets its own `data:`, and every line ending becomes a line feed.
    ///
    /// - Parameters:
    ///   - name: The event's name, without line endings.
    ///   - data: Any bytes; a reader decodes them as UTF-8.
    ///   - output: The buffer that the event is appended to.
    package static func appendEvent(name: String, data: Span<UInt8>, to output: inout [UInt8]) {
        output.append("event: ")
        output.append(name)
        output.append("\ndata: ")
        var isAfterCarriageReturn = false
        for offset in data.indices {
            let byte = data[offset]
            if byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") && !isAfterCarriageReturn {
                output.append("\ndata: ")
            } else if byte != UInt8(ascii: "\n") {
                output.append(byte)
            }
            isAfterCarriageReturn = byte == UInt8(ascii: "\r")
        }
        output.append("\n\n")
    }
}
