// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import PushINI
import Testing

struct INIFileTests {
    @Test func `sections, names, values and line numbers arrive in file order`() throws {
        let entries = try read(
            "first = 1\n\n[server]\nlisten = *:2197\n# comment\n; comment\n\t log:info\r\n[apps]\nempty =")
        #expect(
            entries == [
                INIEntry(section: "", name: "first", value: "1", line: 1),
                INIEntry(section: "server", name: "listen", value: "*:2197", line: 4),
                INIEntry(section: "server", name: "log", value: "info", line: 7),
                INIEntry(section: "apps", name: "empty", value: "", line: 9),
            ])
    }

    @Test func `a name that appears twice gives two entries`() throws {
        #expect(try read("[a]\nx=1\nx=2\n").map(\.value) == ["1", "2"])
    }

    @Test func `a section that appears twice is continued`() throws {
        #expect(try read("[a]\nx=1\n[b]\n[a]\ny=2\n").map(\.section) == ["a", "a"])
    }

    @Test func `an indented line does not continue the one above`() throws {
        #expect(
            try read("[a]\nx = 1\n   y = 2\n") == [
                INIEntry(section: "a", name: "x", value: "1", line: 2),
                INIEntry(section: "a", name: "y", value: "2", line: 3),
            ])
    }

    @Test(arguments: [
        ("x = 1 ; comment", "1"), ("x = 1;2", "1;2"), ("x = 1 # 2", "1 # 2"), ("x = a = b", "a = b"),
        ("x = \"quoted\"", "\"quoted\""), ("x = grüße", "grüße"), ("x =   1   ", "1"), ("\u{FEFF}x = 1", "1"),
    ])
    func `a value is the text after the equals sign`(line: String, value: String) throws {
        #expect(try read(line).map(\.value) == [value])
    }

    @Test(arguments: ["", "\n\n", "# only a comment", "[section]\n", "\u{FEFF}"])
    func `a file without entries is valid`(text: String) throws {
        #expect(try read(text).isEmpty)
    }

    @Test(arguments: ["word", "[open", "= 1", "x = a\0b", "x = \u{0}", "[a] \0"])
    func `an invalid line is refused with its line number`(line: String) throws {
        try withFile(Data("[a]\nx = 1\n\(line)\ny = 2\n".utf8)) { path in
            #expect(throws: INIError.syntax(path: path, line: 3)) { try INIFile.read(path: path) }
        }
    }

    @Test(arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80]] as [[UInt8]])
    func `bytes that are not UTF-8 are refused with the line number`(bytes: [UInt8]) throws {
        try withFile(Data("x = 1\ny = ".utf8) + bytes) { path in
            #expect(throws: INIError.syntax(path: path, line: 2)) { try INIFile.read(path: path) }
        }
    }

    @Test func `the first of several errors is reported`() throws {
        try withFile(Data("[a]\nword\nx = \0\nword\n".utf8)) { path in
            #expect(throws: INIError.syntax(path: path, line: 2)) { try INIFile.read(path: path) }
        }
    }

    @Test(arguments: [198, 199, 200, 16_383]) func `a line up to the limit is read whole`(byteCount: Int) throws {
        let value = String(repeating: "v", count: byteCount - 4)
        #expect(
            try read("[a]\nx = \(value)\ny = 1\n") == [
                INIEntry(section: "a", name: "x", value: value, line: 2),
                INIEntry(section: "a", name: "y", value: "1", line: 3),
            ])
    }

    @Test func `a line or a name above its limit is refused`() throws {
        let text = String(repeating: "v", count: 16_384 - 4)
        try withFile(Data("\nx = \(text)\ny = 1\n".utf8)) { path in
            #expect(throws: INIError.tooLong(path: path, line: 2, byteCountMax: 16_383)) {
                try INIFile.read(path: path)
            }
        }
        for line in [String(repeating: "n", count: 300) + " = 1", String(repeating: "n", count: 300)] {
            try withFile(Data("\n\(line)\ny = 1\n".utf8)) { path in
                #expect(throws: INIError.tooLong(path: path, line: 2, byteCountMax: 198)) {
                    try INIFile.read(path: path)
                }
            }
        }
    }

    @Test func `a long line is read like a short one`() throws {
        let long = String(repeating: "v", count: 250)
        for end in ["", " ", "\t; comment", " ;comment ; x", "\r"] {
            #expect(try read("x : \t\(long);2 # 3 = é\(end)\n").map(\.value) == ["\(long);2 # 3 = é"], "\(end)")
        }
        #expect(try read("x = ; \(long)\ny =\(long)").map(\.value) == ["", long])
        #expect(try read("# \(long)\n; \(long)\nx = 1\n") == [INIEntry(section: "", name: "x", value: "1", line: 3)])
        for line in ["\(long) é = \u{0}", "= \(long)"] {
            try withFile(Data("[a]\n\(line)\n".utf8)) { path in
                #expect(throws: INIError.syntax(path: path, line: 2)) { try INIFile.read(path: path) }
            }
        }
    }

    @Test func `a section name up to inih's limit is read whole, and a longer one is refused`() throws {
        let name = String(repeating: "s", count: 49)
        #expect(try read("[\(name)]\nx = 1\n").map(\.section) == [name])
        for start in ["", " ", "\u{FEFF}"] {
            try withFile(Data("\(start)[\(name)s]\nx = 1\n".utf8)) { path in
                #expect(throws: INIError.tooLong(path: path, line: 1, byteCountMax: 49)) {
                    try INIFile.read(path: path)
                }
            }
        }
    }

    @Test func `a missing file throws the system's error`() {
        #expect(throws: INIError.cannotRead(path: "/nonexistent/a.ini", code: ENOENT)) {
            try INIFile.read(path: "/nonexistent/a.ini")
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a pipe or a device is refused without reading`() throws {
        #expect(throws: INIError.cannotRead(path: "/dev/zero", code: EINVAL)) { try INIFile.read(path: "/dev/zero") }
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        #expect(unsafe mkfifo(path, 0o600) == 0)
        defer { unsafe unlink(path) }
        #expect(throws: INIError.cannotRead(path: path, code: EINVAL)) { try INIFile.read(path: path) }
    }

    @Test func `a directory throws the system's error`() {
        #expect(throws: INIError.cannotRead(path: "/", code: EISDIR)) { try INIFile.read(path: "/") }
    }

    @Test func `a file of the maximum size is read, and a larger one is refused`() throws {
        let line = "#" + String(repeating: "c", count: 62) + "\n"
        var data = Data(String(repeating: line, count: INIFile.byteCountMax / 64).utf8)
        #expect(data.count == INIFile.byteCountMax)
        let entries = try withFile(data) { path in try INIFile.read(path: path) }
        #expect(entries.isEmpty)
        data.append(UInt8(ascii: "#"))
        try withFile(data) { path in
            #expect(throws: INIError.cannotRead(path: path, code: EFBIG)) { try INIFile.read(path: path) }
        }
    }

    @Test(
        arguments: [
            (.cannotRead(path: "/a.ini", code: ENOENT), "/a.ini: No such file or directory"),
            (.syntax(path: "/a.ini", line: 3), "/a.ini, line 3: neither"),
            (.tooLong(path: "/a.ini", line: 3, byteCountMax: 49), "/a.ini, line 3: longer than 49 bytes"),
        ] as [(INIError, String)])
    func `an error names the file and the line`(error: INIError, text: String) {
        #expect("\(error)".hasPrefix(text))
    }

    private func read(_ text: String) throws -> [INIEntry] {
        try withFile(Data(text.utf8)) { path in try INIFile.read(path: path) }
    }

    /// Runs a body with a file in a temporary directory, and removes the directory afterwards.
    @discardableResult
    private func withFile<Result>(_ data: Data, _ body: (String) throws -> Result) throws -> Result {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "test.ini")
        try data.write(to: file)
        return try body(file.path)
    }
}
