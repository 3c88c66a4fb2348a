// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Writes lines that outlive the process: each call is one write to the end of the file.
struct Diarist {
    private let file: FileHandle

    init(_ path: String) throws {
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
    }

    func write(_ mark: String, _ words: [String]) {
        file.write(Data(words.map { "\(mark)\($0)\n" }.joined().utf8))
    }
}
