// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A directory of its own for a test, removed with everything in it when the last user lets go.
package final class TemporaryDirectory: Sendable {
    /// The absolute path; short, because UNIX sockets allow 107 bytes.
    package let path: String

    /// Makes it with `mkdtemp` below `$TMPDIR` or `/tmp`, mode 0700.
    ///
    /// - Parameter isOpen: Whether every user of the machine may reach what is in it: mode 0711 then, and always below `/tmp`.
    /// - Throws: `SystemFailure`.
    package init(isOpen: Bool = false) throws {
        let parent = isOpen ? "/tmp" : ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        var template = Array("\(parent)/posthorn.XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer -> String? in
            guard let base = buffer.baseAddress, let made = unsafe mkdtemp(base) else { return nil }
            return unsafe String(cString: made)
        }
        guard let made else { throw SystemFailure(call: "mkdtemp", code: errno) }
        path = made
        if isOpen { try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: made) }
    }

    deinit {
        // A test may have left directories without write permission.
        try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file or directory in it, which need not exist.
    package func path(of name: String) -> String { "\(path)/\(name)" }

    /// Makes a directory in it, with those above.
    @discardableResult
    package func makeDirectory(_ name: String, permissions: Int = 0o700) throws -> String {
        let path = path(of: name)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: permissions])
        return path
    }

    /// Writes a text file in it.
    @discardableResult
    package func write(_ text: String, to name: String, permissions: Int = 0o600) throws -> String {
        let path = path(of: name)
        if permissions & 0o111 != 0 {
            try writeProgram(text, to: path, permissions)
        } else {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
        return path
    }

    /// By another process: a program that another test starts just now would hold our descriptor for a moment, and what
    /// is open for writing cannot be executed (ETXTBSY).
    private func writeProgram(_ text: String, to path: String, _ permissions: Int) throws {
        let (process, input) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/install")
        process.arguments = ["-m", String(permissions, radix: 8), "/dev/stdin", path]
        process.standardInput = input
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw SystemFailure(call: "install", code: errno) }
    }

    /// Reads a text file in it; empty when there is none.
    package func read(_ name: String) -> String { readText(path(of: name)) }
}

/// Reads a text file; empty when there is none.
package func readText(_ path: String) -> String {
    guard let data = FileManager.default.contents(atPath: path) else { return "" }
    return String(decoding: data, as: UTF8.self)
}

/// A system call of the test's own that failed.
package struct SystemFailure: Error, CustomStringConvertible {
    /// The call's name.
    package let call: String
    /// What errno held.
    package let code: Int32

    /// Joins the two.
    package init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// The call and the system's words for the code.
    package var description: String { unsafe "\(call): \(String(cString: strerror(code)))" }
}
