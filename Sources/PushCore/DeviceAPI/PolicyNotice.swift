// SPDX-License-Identifier: Apache-2.0

/// Tells a device which version the server's policies have, so that it asks for them when it has another.
package struct PolicyNotice: Equatable, Sendable {
    /// The event's name.
    package static let eventName = "policy"
    /// Grows with each change of any policy.
    package var version: Int64

    /// Tells a version.
    package init(version: Int64) { self.version = version }

    /// Reads what a server wrote; nil when it makes no sense.
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
