// SPDX-License-Identifier: Apache-2.0

internal import PushCore

extension Command {
    /// Returns the file that `--generate NAME` requests: a page of the manual, or the completion script of a shell.
    ///
    /// `make install` calls it while it installs the program. `--help` and completion do not show this option.
    ///
    /// - Parameter arguments: The words of the command line, without the program's own name.
    /// - Returns: The file, or nil if the command line does not consist of this option.
    /// - Throws: `UsageError`, when the program has no file of this name.
    func generatedFile(for arguments: [String]) throws(UsageError) -> String? {
        guard arguments.count == 2, arguments[0].hasSameBytes(as: "--generate") else { return nil }
        let name = arguments[1]
        if let shell = Completion.Shell(rawValue: name) { return Completion.script(for: self, shell: shell) }
        let pages = ManualPage.pages(of: self)
        if let page = pages.first(where: { $0.fileName.hasSameBytes(as: name) }) { return page.text }
        let names = Completion.Shell.allCases.map(\.rawValue) + pages.map(\.fileName)
        throw UsageError(
            .badValue(of: arguments[0], value: name, expected: "choose one of \(names.joined(separator: ", "))"),
            command: self.name)
    }
}
