// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Where things lie: the repository, the programs that were built with this test, the Python of the providers.
package enum RepositoryPaths {
    /// The top of the clone.
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

    /// A program of this package.
    package static func program(_ name: String) -> String { "\(programs)/\(name)" }

    /// A Python script of the end-to-end tests.
    package static func provider(_ name: String) -> String { "\(root)/Tests/EndToEndTests/Providers/\(name)" }

    /// A program of the system, by its name.
    ///
    /// - Parameter name: For example `curl`.
    /// - Returns: The first one in PATH and the usual places.
    /// - Throws: `MissingProgram`; run `make setup`.
    package static func tool(_ name: String) throws -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders =
            path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/bin", "/usr/lib/notification-daemon"]
        // A version manager's shim in PATH is a shell script, which signals would not pass.
        for folder in ["/usr/bin"] + folders where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
            return "\(folder)/\(name)"
        }
        throw MissingProgram(name: name)
    }
}

/// A program that the tests need is not installed.
package struct MissingProgram: Error, CustomStringConvertible {
    /// Its name.
    package let name: String

    /// What to do.
    package var description: String { "\(name) is not installed: run `make setup`" }
}
