// SPDX-License-Identifier: Apache-2.0

/// The result of a command, as text for users and as JSON for programs.
package struct Report: Sendable {
    /// The text form, without a trailing newline.
    package let text: String
    /// The value that `--json` encodes.
    package let json: any Encodable & Sendable
    /// A problem and its remedy for standard error, in addition to the result.
    var complaint: (problem: String, remedy: String)?
    /// Whether the command has written its result itself, because it may be long.
    package var isWritten = false
    /// The exit code of the process.
    var exitCode = ExitCode.ok

    package init(_ text: String, json: some Encodable & Sendable) {
        self.text = text
        self.json = json
    }
}

/// The JSON `{"done":true}` of commands that return no data.
package struct Done: Codable, Sendable {
    /// Always true: a failure is reported by the exit code.
    package var done = true

    package init() {}
}
