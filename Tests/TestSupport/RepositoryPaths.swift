// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The paths of the repository, of the programs built with the tests, and of the Python interpreter.
package enum RepositoryPaths {
    /// The root directory of the repository.
    package static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// The directory of the built programs: that of the test bundle, or `POSTHORN_TEST_PROGRAMS`.
    package static let programs: String = {
        if let chosen = ProcessInfo.processInfo.environment["POSTHORN_TEST_PROGRAMS"] { return chosen }
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().path
    }()

    /// The interpreter with the packages of Tests/requirements.txt, which `make setup` installs.
    package static let python = "\(root)/.venv/bin/python"

    /// Returns the path of a program of this package.
    package static func program(_ name: String) -> String { "\(programs)/\(name)" }

    /// Returns the path of a Python script of the end-to-end tests.
    package static func provider(_ name: String) -> String { "\(root)/Tests/EndToEndTests/Providers/\(name)" }

    /// Returns the path of a system program.
    ///
    /// - Parameter name: The program's name, for example `curl`.
    /// - Returns: The first match in /usr/bin, PATH and the default directories.
    /// - Throws: `MissingProgram`; run `make setup`.
    package static func tool(_ name: String) throws -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders =
            path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/bin", "/usr/lib/notification-daemon"]
        // /usr/bin comes first, because a version manager's shim in PATH is a shell script that does not forward
        // signals.
        for folder in ["/usr/bin"] + folders where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
            return "\(folder)/\(name)"
        }
        throw MissingProgram(name: name)
    }
}

/// The error for a missing program that the tests need.
package struct MissingProgram: Error, CustomStringConvertible {
    package let name: String

    package var description: String { "\(name) is not installed: run `make setup`" }
}
