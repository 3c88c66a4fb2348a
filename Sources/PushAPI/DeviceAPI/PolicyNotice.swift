// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The message with the version of the server's policies; a device with another version requests them.
package struct PolicyNotice: Equatable, Sendable {
    /// The event's name.
    package static let eventName = "policy"
    /// The version, which grows with each change of any policy.
    package var version: Int64

    package init(version: Int64) { self.version = version }

    /// Parses the data of an event; returns nil if it is invalid.
    package init?(data: Span<UInt8>) {
        guard let version = (try? JSONValue(parsing: data))?["version"]?.integer else { return nil }
        self.version = version
    }

    /// Appends the event.
    package func appendEvent(to output: inout [UInt8]) {
        var data: [UInt8] = []
        appendObject(to: &data)
        EventStream.appendEvent(name: Self.eventName, data: data.span, to: &output)
    }

    func appendObject(to output: inout [UInt8]) {
        output.append("{")
        JSONWriter.append(key: "version", to: &output)
        JSONWriter.append(version, to: &output)
        output.append("}")
    }
}
