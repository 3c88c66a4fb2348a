// SPDX-License-Identifier: Apache-2.0

/// The parts of a program's manual that its table of commands and options lacks.
package struct Manual: Sendable {
    /// The section of the program's page: 1 for users, 8 for administrators.
    let section: Int
    /// The files that the program uses, with their purposes.
    let files: [Explanation]
    /// The configuration file, which has a page of its own in section 5.
    let configuration: ConfigurationFile?
    /// The related pages, such as `posthorn(1)`.
    let related: [String]

    package init(
        section: Int, files: [Explanation] = [], configuration: ConfigurationFile? = nil, related: [String] = []
    ) {
        self.section = section
        self.files = files
        self.configuration = configuration
        self.related = related
    }
}

/// A configuration file, for its page of the manual.
package struct ConfigurationFile: Sendable {
    /// A section of the file.
    package struct Section: Sendable {
        let name: String
        /// The settings, for example `listen = HOST:PORT`, with their meanings and defaults.
        let settings: [Explanation]

        package init(_ name: String, _ settings: [Explanation]) {
            self.name = name
            self.settings = settings
        }
    }

    /// The name of the page, for example `posthornd.ini`.
    let name: String
    /// One sentence for lists of pages.
    let summary: String
    /// The paths at which the program looks for the file.
    let paths: [String]
    /// The longer text; empty lines separate paragraphs.
    let discussion: String
    let sections: [Section]

    package init(_ name: String, _ summary: String, paths: [String], discussion: String, sections: [Section]) {
        self.name = name
        self.summary = summary
        self.paths = paths
        self.discussion = discussion
        self.sections = sections
    }
}
