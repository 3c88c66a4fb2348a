// SPDX-License-Identifier: Apache-2.0

internal import Foundation
@testable import PosthornCLI
internal import PushCore
internal import TestSupport
internal import Testing

struct OutputTests {
    @Test(
        arguments: [
            (0, 0, "1970-01-01 00:00:00Z"), (1_795_295_709, 3600, "2026-11-21 22:15:09+0100"),
            (1_795_295_709, -12600, "2026-11-21 17:45:09-0330"), (253_402_300_799, 0, "9999-12-31 23:59:59Z"),
            (253_402_300_800, 0, "253402300800 s after 1970"), (-1, 0, "-1 s after 1970"),
            (Int64.max, 0, "9223372036854775 s after 1970"), (Int64.min, 0, "-9223372036854776 s after 1970"),
        ] as [(Int64, Int, String)])
    func `a time is shown with its time zone`(seconds: Int64, offset: Int, text: String) {
        #expect(LocalTime.text(Timestamp(unixSeconds: seconds), offsetSeconds: offset) == text)
    }

    @Test(arguments: [
        ("plain ✓", "plain ✓"), ("\u{9B}", "\\u009b"), ("\u{7F}", "\\u007f"), ("\u{202E}", "\\u202e"),
        ("\u{2028}", "\\u2028"), ("\u{1B}\n", "\\u001b\\n"),
    ])
    func `JSON for a terminal has no control characters and the same meaning`(text: String, inJSON: String) throws {
        let printed = JSONText.printable(try JSONText.encode(["a": text]))
        #expect(printed == "{\"a\":\"\(inJSON)\"}")
        #expect(try JSONDecoder().decode([String: String].self, from: Data(printed.utf8)) == ["a": text])
    }

    @Test(arguments: [
        (64, 64), (65, 64), (200, 64),
    ])
    func `a cell is cut at 64 columns, unless it is the last of its row`(length: Int, shown: Int) {
        let long = String(repeating: "x", count: length)
        let cells = Table([.text("X"), .text("Y")], rows: [[long, long]]).text.split(separator: "\n")[1].split(
            separator: " ")
        #expect(cells[0].count == shown)
        #expect(cells[0].hasSuffix("…") == (length > 64))
        #expect(cells[1] == long)
    }

    @Test(arguments: [(32, 32), (33, 31)])
    func `a wide character takes two columns`(length: Int, shown: Int) {
        let table = Table([.text("X"), .text("Y")], rows: [[String(repeating: "郵", count: length), "last"]])
        #expect(table.text.split(separator: "\n")[1].filter { $0 == "郵" }.count == shown)
    }

    @Test func `only the owner has access to a new file`() throws {
        let files = try TemporaryDirectory()
        let path = files.path(of: "key.p8")
        try LocalFile.create(path, holding: [1, 2, 3])
        #expect(try LocalFile.read(path) == [1, 2, 3])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `an existing file is never replaced, nor is a link`() throws {
        let files = try TemporaryDirectory()
        let path = try files.write("old", to: "key.p8")
        try FileManager.default.createSymbolicLink(atPath: files.path(of: "link"), withDestinationPath: "elsewhere")
        for name in ["key.p8", "link"] {
            let error = #expect(throws: FileError.self) { try LocalFile.create(files.path(of: name), holding: [1]) }
            #expect(error?.attempt == .create && error?.exitCode == .refused)
            #expect(error?.problem.hasSuffix("already exists; not overwritten") == true)
        }
        #expect(readText(path) == "old")
        #expect(!LocalFile.exists(files.path(of: "elsewhere")))
    }

    @Test(arguments: [(1_048_576, true), (1_048_577, false)])
    func `a file is read up to a mebibyte`(byteCount: Int, isRead: Bool) throws {
        let files = try TemporaryDirectory()
        let path = try files.write(String(repeating: "x", count: byteCount), to: "large")
        if isRead {
            #expect(try LocalFile.read(path).count == byteCount)
        } else {
            #expect(throws: FileError.self) { try LocalFile.read(path) }
        }
    }

    @Test func `a missing file is not found, and a directory is not a file`() throws {
        let files = try TemporaryDirectory()
        let absent = #expect(throws: FileError.self) { try LocalFile.read(files.path(of: "absent")) }
        #expect(absent?.exitCode == .notFound && absent?.remedy == "Check the path.")
        let directory = #expect(throws: FileError.self) { try LocalFile.read(files.path) }
        #expect(directory?.remedy == "Specify a file, not a directory.")
        #expect(LocalFile.isDirectory(files.path) && !LocalFile.isDirectory(files.path(of: "absent")))
        let nowhere = #expect(throws: FileError.self) { try LocalFile.create(files.path(of: "a/b"), holding: []) }
        #expect(nowhere?.remedy == "Create the directory first.")
    }

    @Test(.timeLimit(.minutes(1)))
    func `a key and an authority are read only from a regular file, without waiting for a pipe`() throws {
        let files = try TemporaryDirectory()
        let path = files.path(of: "AuthKey_ABC1234567.p8")
        #expect(unsafe mkfifo(path, 0o600) == 0)
        for path in [path, "/dev/zero"] {
            guard
                case .file(let error) = thrown({ () throws(CommandError) in _ = try ProviderTokenSigner.readKey(path) })
            else {
                Issue.record("\(path) was read")
                continue
            }
            #expect(error.problem == "cannot read \(path): not a regular file")
            #expect(error.remedy == "Specify a regular file, not a pipe or a device.")
        }
        let authority = thrown { () throws(CommandError) in try LocalFile.checkCertificate(path) }
        #expect(authority?.problem == "cannot read \(path): not a regular file")
        #expect(try LocalFile.readRegular(files.write("x", to: "file")) == [UInt8(ascii: "x")])
        let directory = #expect(throws: FileError.self) { try LocalFile.readRegular(files.path) }
        #expect(directory?.remedy == "Specify a file, not a directory.")
    }

    @Test(arguments: [
        ("new", nil), ("there", ""), ("folder", nil),
        ("folder/new", nil), ("folder/", nil), ("absent/new", "Create the directory first."),
        ("there/new", "Create the directory first."),
    ])
    func `obstacles to a new file are found in advance`(name: String, remedy: String?) throws {
        let files = try TemporaryDirectory()
        try files.write("", to: "there")
        try files.makeDirectory("folder")
        var found: FileError?
        do throws(FileError) { try LocalFile.checkCreation(files.path(of: name)) } catch { found = error }
        #expect(found?.remedy == remedy)
        if remedy == "" { #expect(found?.problem == "\(files.path(of: name)) already exists; not overwritten") }
    }

    @Test(arguments: [
        ("ABC1234567", true), ("0000000000", true), ("ABC123456", false), ("ABC12345678", false),
        ("abc1234567", false), ("../../../x", false), ("", false), ("ABC12345é", false),
    ])
    func `a key ID is ten capitals and digits`(text: String, isKeyID: Bool) {
        #expect(ProviderTokenSigner.isKeyID(text) == isKeyID)
    }

    @Test func `a long value continues below its beginning if there is a maximum width`() {
        let fields = [(name: "Name", value: "x"), (name: "Problem", value: "one two three four")]
        #expect(Table.fields(fields) == "Name     x\nProblem  one two three four")
        #expect(
            Table.fields(fields, columnCountMax: 18) == "Name     x\nProblem  one two\n         three\n         four")
    }
}
