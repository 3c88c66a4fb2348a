// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxDesktop

/// The process that a .desktop file starts; for a script, the kernel runs its interpreter.
struct StartedProgram {
    private let executable: FileIdentity
    /// The first words after the program's name.
    ///
    /// A script is compared as a file.
    private let arguments: [RunningProgram.Argument]

    /// Finds the program of a .desktop file; nil if it starts none, or none that can be recognized later.
    ///
    /// - Parameters:
    ///   - entry: The .desktop file of the app.
    ///   - entries: Finds programs in `PATH`.
    init?(_ entry: DesktopEntry, _ entries: DesktopEntries) {
        guard let exec = entry.exec, let path = exec.first.flatMap(entries.program) else { return nil }
        guard let start = ScriptStart(path) else {
            guard let executable = FileIdentity(path) else { return nil }
            self.executable = executable
            arguments = exec.dropFirst().map { .init(text: $0, file: Self.absoluteFile($0)) }
            return
        }
        guard let interpreter = entries.program(start.interpreter), let executable = FileIdentity(interpreter) else {
            return nil
        }
        self.executable = executable
        arguments = start.arguments.map { .init(text: $0) } + [.init(text: path, file: FileIdentity(path))]
    }

    /// Returns whether a process runs this program.
    ///
    /// The words are compared too, because an interpreter runs the scripts of many apps.
    ///
    /// - Parameter program: The program of the process.
    /// - Returns: Whether the executable and the first words are the same.
    func isRun(by program: RunningProgram) -> Bool {
        guard program.executable == executable, program.arguments.count >= arguments.count else { return false }
        return zip(arguments, program.arguments).allSatisfy { expected, found in
            if let file = expected.file { return file == found.file }
            return expected.text.utf8.elementsEqual(found.text.utf8)
        }
    }

    private static func absoluteFile(_ word: String) -> FileIdentity? {
        word.utf8.first == UInt8(ascii: "/") ? FileIdentity(word) : nil
    }
}

/// The first line of a script, `#!INTERPRETER [ARGUMENT]`.
///
/// - SeeAlso: execve(2), "Interpreter scripts".
private struct ScriptStart {
    var interpreter: String
    var arguments: [String]

    /// Parses the first line of a file; nil if the file is not a script.
    init?(_ path: String) {
        guard let line = Self.firstLine(of: path), line.starts(with: "#!".utf8) else { return nil }
        let words = String(decoding: line.dropFirst(2), as: UTF8.self).split(separator: /[ \t]+/, maxSplits: 1)
        interpreter = words.first.map(String.init) ?? ""
        arguments = words.dropFirst().map(String.init)
        guard interpreter.hasSuffix("/env") else { return }
        // `env` replaces itself with the program that it finds.
        let rest = (arguments.first ?? "").split(separator: " ").drop { $0 == "-S" }.map(String.init)
        interpreter = rest.first ?? ""
        arguments = Array(rest.dropFirst())
    }

    private static func firstLine(of path: String) -> ArraySlice<UInt8>? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        // The kernel reads the same number of bytes.
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
        return bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }
    }
}
