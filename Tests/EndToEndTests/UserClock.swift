// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// The wall clock of a user's machine, which a test moves while programs run, by preloading libfaketime.
struct UserClock {
    private let files: TemporaryDirectory
    private let path: String

    init() throws {
        files = try TemporaryDirectory()
        path = try files.write("+0", to: "clock")
    }

    /// The variables for programs that use this clock; their timers use the machine's own.
    var environment: [String: String] {
        [
            "LD_PRELOAD": "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1", "TZ": "UTC",
            "FAKETIME_TIMESTAMP_FILE": path, "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_NO_CACHE": "1",
        ]
    }

    /// Moves the clock by renaming a new file into place, so that no reader sees half of it.
    func jump(to offset: String) throws {
        try files.write(offset, to: "clock.new")
        guard unsafe rename("\(path).new", path) == 0 else { throw SystemFailure(call: "rename", code: errno) }
    }
}
