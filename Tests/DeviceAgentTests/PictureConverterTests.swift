// SPDX-License-Identifier: Apache-2.0

@testable import DeviceAgent
import Foundation
import LoopTestSupport
import PushCore
import PushNet
import TestSupport
import Testing

/// Converts pictures in the real processes of posthorn-panel.
struct PictureConverterTests {
    private static let jpeg = """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI//////////////////////////////// \
        ////////////////////2wBDAVVaWnhpeOuCguv///////////////////////////////////////////////////////////// \
        ////////////wAARCAAIAAgDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUF \
        BAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVW \
        V1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi \
        4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAEC \
        AxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVm \
        Z2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq \
        8vP09fb3+Pn6/9oADAMBAAIRAxEAPwBtFFFQYn//2Q==
        """

    @Test func `a PNG and a JPEG file become PNG files`() async throws {
        let photo = try Data(contentsOf: URL(fileURLWithPath: "\(RepositoryPaths.root)/docs/images/alert.png"))
        for bytes in [
            Array(photo), Array(try #require(Data(base64Encoded: Self.jpeg, options: .ignoreUnknownCharacters))),
        ] {
            let png = try await convert(bytes).get()
            #expect(png.starts(with: Self.signature) && png != bytes)
            // A converted picture can be converted again.
            #expect(try await convert(png).get().starts(with: Self.signature))
        }
    }

    @Test func `a large picture is scaled down to 1024 pixels`() async throws {
        let png = try await convert(Self.png(width: 4096, height: 8)).get()
        #expect(Array(png[16..<24]) == [0, 0, 4, 0, 0, 0, 0, 2])
    }

    @Test(
        arguments: [
            ([], "it is not a PNG, JPEG or WebP file"),
            (Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), "it is not a PNG, JPEG or WebP file"),
            (Array("GIF89a".utf8), "it is not a PNG, JPEG or WebP file"),
            (signature, "it is damaged or too large"), ([0xFF, 0xD8, 0xFF, 0xE0], "it is damaged or too large"),
            (Array(png(width: 40, height: 20).prefix(33)), "it is damaged or too large"),
            // The side is too long, and the many pixels would need more memory than the process has.
            (png(width: 4097, height: 1), "it is damaged or too large"),
            (png(width: 60000, height: 60000), "it is damaged or too large"),
        ] as [([UInt8], String)])
    func `any other file gives the reason`(bytes: [UInt8], reason: String) async throws {
        #expect(try await convert(bytes) == .failure(PictureFailure(reason)))
    }

    @Test func `a missing panel is named`() async throws {
        let result = try await convert(Self.png(width: 1, height: 1), program: "/nonexistent/posthorn-panel")
        #expect(result == .failure(PictureFailure("posthorn-panel, which decodes it, is not installed")))
    }

    @Test(arguments: [
        ("printf 'x'", "it cannot be decoded"), ("printf '1 1\\nabc'", "it cannot be decoded"),
        ("printf '1 1\\nabcde'", "it cannot be decoded"),
        ("printf '1025 1\\n'; head -c 4100 /dev/zero", "it cannot be decoded"),
        ("printf -- '-1 -1\\n'", "it cannot be decoded"), ("cat /dev/zero", "wrote more than"),
        ("sleep 600", "it was not ready within"), ("kill -9 $$", "was ended by signal 9"),
    ])
    func `a decoder that was compromised cannot return anything but pixels`(script: String, reason: String) async throws
    {
        let files = try TemporaryDirectory()
        let program = try files.write("#!/bin/sh\n\(script)\n", to: "panel", permissions: 0o700)
        let timeout = script.hasPrefix("sleep") ? Duration.milliseconds(200) : .seconds(60)
        let result = try await convert(Self.png(width: 1, height: 1), program: program, timeout: timeout)
        guard case .failure(let failure) = result else {
            Issue.record("a picture was made")
            return
        }
        #expect(failure.phrase.contains(reason), "\(failure.phrase)")
    }

    @Test func `the processes get an empty environment`() async throws {
        let files = try TemporaryDirectory()
        let path = files.path(of: "environment")
        let script = "#!/bin/sh\ncat /proc/$$/environ > '\(path)'\n"
        let program = try files.write(script, to: "panel", permissions: 0o700)
        _ = try await convert(Self.png(width: 1, height: 1), program: program)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty)
    }

    @Test func `both processes together have one time limit`() async throws {
        let script = """
            #!/bin/sh
            sleep 0.9
            case $1 in --decode-picture) printf '1 1\\nabcd' ;; *) printf '\\211PNG\\r\\n\\032\\n' ;; esac

            """
        let files = try TemporaryDirectory()
        let program = try files.write(script, to: "panel", permissions: 0o700)
        let picture = Self.png(width: 1, height: 1)
        #expect(try await convert(picture, program: program).get() == Self.signature)
        let late = PictureFailure("it was not ready within 1.0 seconds")
        #expect(try await convert(picture, program: program, timeout: .seconds(1)) == .failure(late))
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private func convert(
        _ bytes: [UInt8], program: String = RepositoryPaths.program("posthorn-panel"), timeout: Duration = .seconds(60)
    ) async throws -> Result<[UInt8], PictureFailure> {
        let loop = try EventLoop()
        let converter = PictureConverter(loop: loop, program: program)
        let slot = try #require(PictureSlots().take("org.example.Mail"))
        let deadline = PictureDeadline(after: timeout)
        var result: Result<[UInt8], PictureFailure>?
        loop.startTask {
            do throws(PictureFailure) {
                result = .success(try await converter.png(of: .content(bytes), in: slot, by: deadline))
            } catch {
                result = .failure(error)
            }
        }
        try await loop.run("the picture is converted or refused") { result != nil }
        return try #require(result)
    }

    /// Returns a PNG file whose rows are in one stored block each, or are missing if they would be too many.
    private static func png(width: Int, height: Int) -> [UInt8] {
        let row = [0] + [UInt8](repeating: 0x55, count: width)
        var data: [UInt8] = [0x78, 0x01]
        let rows = width * height > 1 << 20 ? 1 : height
        for index in 0..<rows {
            data += [index == rows - 1 ? 1 : 0] + little16(row.count) + little16(~row.count) + row
        }
        let all = Array(repeating: row, count: rows).flatMap(\.self)
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in all {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        data += big32(high << 16 | low)
        let header = big32(UInt32(width)) + big32(UInt32(height)) + [8, 0, 0, 0, 0]
        return signature + chunk("IHDR", header) + chunk("IDAT", data) + chunk("IEND", [])
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let content = Array(name.utf8) + data
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in content {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return big32(UInt32(data.count)) + content + big32(~crc)
    }

    private static func big32(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func little16(_ value: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }
}
