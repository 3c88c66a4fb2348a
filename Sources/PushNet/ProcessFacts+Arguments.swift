// SPDX-License-Identifier: Apache-2.0

extension ProcessFacts {
    /// The arguments of the command line, without the program's name.
    ///
    /// They are read from the kernel. Swift searches for them next to the environment variables, which move as soon as
    /// a preloaded library sets one.
    package static var arguments: [String] {
        // If /proc is not mounted, Swift's arguments are better than none.
        let bytes = try? PrivateFile.read("/proc/self/cmdline", byteCountMax: .max)
        return Array((bytes.map(words(ofCommandLine:)) ?? CommandLine.arguments).dropFirst())
    }

    /// Returns the arguments in `/proc/PID/cmdline`, where each ends with a zero byte; empty arguments are kept.
    static func words(ofCommandLine bytes: [UInt8]) -> [String] {
        var words = bytes.split(separator: 0, omittingEmptySubsequences: false)
        if words.last?.isEmpty ?? false { words.removeLast() }
        return words.map { String(decoding: $0, as: UTF8.self) }
    }
}
