// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The message with the version of something that a device keeps; a device with another version requests it.
package struct VersionNotice: Equatable, Sendable {
    /// The thing that has the version; the raw value is the event's name.
    package enum Kind: String, CaseIterable, Sendable {
        /// The administrator's policies.
        case policy
        /// The authorities that the server announces.
        case authorities
    }

    package var kind: Kind
    /// The version, which grows with each change.
    package var version: Int64

    package init(_ kind: Kind, version: Int64) {
        self.kind = kind
        self.version = version
    }

    /// Parses the data of an event; returns nil if it is invalid.
    package init?(_ kind: Kind, data: Span<UInt8>) {
        guard let version = (try? JSONValue(parsing: data))?["version"]?.integer else { return nil }
        self.init(kind, version: version)
    }

    /// Appends the event.
    package func appendEvent(to output: inout [UInt8]) {
        var data: [UInt8] = []
        appendObject(to: &data)
        EventStream.appendEvent(name: kind.rawValue, data: data.span, to: &output)
    }

    func appendObject(to output: inout [UInt8]) {
        output.append("{")
        JSONWriter.append(key: "version", to: &output)
        JSONWriter.append(version, to: &output)
        output.append("}")
    }
}
