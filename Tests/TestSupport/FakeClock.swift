// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A wall clock that a test sets for some programs.
///
/// The monotonic clock, which timers use, does not change.
package final class FakeClock: Sendable {
    private let files: TemporaryDirectory
    private let path: String
    /// The variables of programs that use this clock.
    package let environment: [String: String]

    /// Creates a clock that shows the right time.
    ///
    /// - Throws: `SystemFailure`.
    package init() throws {
        // PostgreSQL runs as another user.
        files = try TemporaryDirectory(isOpen: true)
        path = try files.write("+0", to: "clock", permissions: 0o644)
        environment = [
            "LD_PRELOAD": "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
            "FAKETIME_TIMESTAMP_FILE": path, "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_NO_CACHE": "1",
        ]
    }

    /// Moves the clock by renaming a new file into place, so that no reader sees half of it.
    ///
    /// - Parameter offset: The difference to the right time, for example `+40` or `-50m`.
    /// - Throws: `SystemFailure`.
    package func jump(to offset: String) throws {
        try files.write(offset, to: "clock.new", permissions: 0o644)
        guard unsafe rename("\(path).new", path) == 0 else { throw SystemFailure(call: "rename", code: errno) }
    }
}
