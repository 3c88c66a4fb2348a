// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A private directory of a test, which is deleted with its content when the last reference is released.
package final class TemporaryDirectory: Sendable {
    /// The absolute path.
    ///
    /// It is short, because paths of UNIX sockets are limited to 107 bytes.
    package let path: String

    /// Creates the directory with `mkdtemp` in `$TMPDIR` or `/tmp`, with mode 0700.
    ///
    /// - Parameter isOpen: Whether every user of the machine may reach its content. The directory then has mode 0711
    ///   and is always in `/tmp`.
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

    /// Returns the path of a file or directory in it, which need not exist.
    package func path(of name: String) -> String { "\(path)/\(name)" }

    /// Creates a directory in it, with its parents; returns the path.
    @discardableResult
    package func makeDirectory(_ name: String, permissions: Int = 0o700) throws -> String {
        let path = path(of: name)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: permissions])
        return path
    }

    /// Writes a text file in it; returns the path.
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

    /// Writes an executable file with another process.
    ///
    /// A child that another test starts at this moment could inherit our file descriptor. A file that is open for
    /// writing cannot be executed (ETXTBSY).
    ///
    /// - Parameters:
    ///   - text: The content.
    ///   - path: The path of the file.
    ///   - permissions: The mode.
    /// - Throws: `SystemFailure` when the process fails.
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

    /// Reads a text file in it; returns an empty text when it does not exist.
    package func read(_ name: String) -> String { readText(path(of: name)) }
}

/// Reads a text file; returns an empty text when it does not exist.
package func readText(_ path: String) -> String {
    guard let data = FileManager.default.contents(atPath: path) else { return "" }
    return String(decoding: data, as: UTF8.self)
}

/// The error for a failed system call or helper program of a test.
package struct SystemFailure: Error, CustomStringConvertible {
    package let call: String
    /// The value of errno.
    package let code: Int32

    package init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    package var description: String { unsafe "\(call): \(String(cString: strerror(code)))" }
}
