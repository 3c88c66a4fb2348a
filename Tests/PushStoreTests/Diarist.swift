// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Writes lines that outlive the process: each call is one write to the end of the file, which the first one makes.
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
