// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Appends lines to a log file that survives the process.
///
/// Each call is a single write, and the first one creates the file.
struct Diarist {
    private let path: String

    init(_ path: String) { self.path = path }

    func write(_ mark: String, _ words: [String]) throws {
        guard !words.isEmpty else { return }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw MissingReply(what: "a file at \(path), error number \(errno)") }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        file.write(Data(words.map { "\(mark)\($0)\n" }.joined().utf8))
    }
}
