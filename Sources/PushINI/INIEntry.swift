// SPDX-License-Identifier: Apache-2.0

/// One `name = value` of an INI file, as systemd writes them.
package struct INIEntry: Sendable, Equatable {
    /// What stands in brackets above it; empty before the first section.
    package var section: String
    /// What stands before the equals sign, without blanks around it; never empty.
    package var name: String
    /// What stands behind the equals sign, without blanks around it; may be empty.
    package var value: String
    /// The line in the file, from 1.
    package var line: Int

    /// Joins the parts.
    package init(section: String, name: String, value: String, line: Int) {
        self.section = section
        self.name = name
        self.value = value
        self.line = line
    }
}
