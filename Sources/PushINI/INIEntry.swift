// SPDX-License-Identifier: Apache-2.0

/// One `name = value` entry of an INI file in systemd's format.
package struct INIEntry: Sendable, Equatable {
    /// The section name in brackets above the entry; empty before the first section.
    package var section: String
    /// The part before the equals sign, without surrounding spaces; never empty.
    package var name: String
    /// The part after the equals sign, without surrounding spaces; may be empty.
    package var value: String
    /// The line number in the file, from 1.
    package var line: Int

    package init(section: String, name: String, value: String, line: Int) {
        self.section = section
        self.name = name
        self.value = value
        self.line = line
    }
}
