// SPDX-License-Identifier: Apache-2.0

extension ProcessFacts {
    /// The words of the command line, without the program's name.
    ///
    /// As the kernel has them: Swift looks for them beside the variables of the environment, which lie elsewhere once a
    /// preloaded library has set one.
    package static var arguments: [String] {
        // Where /proc is not mounted, Swift's own are better than none.
        let bytes = try? PrivateFile.read("/proc/self/cmdline", byteCountMax: .max)
        return Array((bytes.map(words(ofCommandLine:)) ?? CommandLine.arguments).dropFirst())
    }

    /// The words of `/proc/PID/cmdline`, where each ends with a zero byte; an empty word is one, too.
    static func words(ofCommandLine bytes: [UInt8]) -> [String] {
        var words = bytes.split(separator: 0, omittingEmptySubsequences: false)
        if words.last?.isEmpty ?? false { words.removeLast() }
        return words.map { String(decoding: $0, as: UTF8.self) }
    }
}
