// SPDX-License-Identifier: Apache-2.0

/// What a command says: once for people, once for programs.
package struct Report: Sendable {
    /// For people, without a newline at its end.
    package let text: String
    /// For programs: written as JSON.
    package let json: any Encodable & Sendable
    /// What else goes to standard error: what is wrong, and what to do.
    package var complaint: (problem: String, remedy: String)?
    /// What the program ends with.
    package var exitCode = ExitCode.ok

    /// Joins both forms.
    package init(_ text: String, json: some Encodable & Sendable) {
        self.text = text
        self.json = json
    }
}

/// `{"done":true}`: the JSON of commands that have nothing to tell.
package struct Done: Codable, Sendable {
    /// Always true: a failure has an exit code instead.
    package var done = true

    /// Done.
    package init() {}
}
