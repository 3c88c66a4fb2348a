// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import PushSound
import TestSupport
import Testing

struct SoundFileTests {
    private let files: TemporaryDirectory

    init() throws { files = try TemporaryDirectory() }

    /// Writes a mono WAV file with 8 kHz and returns its path.
    private func wave(_ samples: [Int16], format: UInt16 = 1, bits: UInt16 = 16) throws -> String {
        func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
            (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> Number($0 * 8)) }
        }
        let data = samples.flatMap(bytes)
        let header =
            Array("RIFF".utf8) + bytes(UInt32(36 + data.count)) + Array("WAVEfmt ".utf8) + bytes(UInt32(16))
            + bytes(format) + bytes(UInt16(1)) + bytes(UInt32(8000)) + bytes(UInt32(8000 * Int(bits) / 8))
            + bytes(bits / 8) + bytes(bits) + Array("data".utf8) + bytes(UInt32(data.count))
        let path = files.path(of: "sound.wav")
        try Data(header + data).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func tone(_ count: Int, loudness: Double) -> [Int16] {
        (0..<count).map { Int16(loudness * sin(Double($0) * 0.3) * 32767) }
    }

    private func read(_ path: String) throws -> SoundFile { try SoundFile(path: path, durationMillisecondsMax: 30_000) }

    @Test func `length and loudness are measured`() throws {
        let sound = try read(try wave(tone(8000, loudness: 0.5)))
        #expect(sound.format == .wav && sound.durationMilliseconds == 1000)
        #expect(abs(sound.peak - 0.5) < 0.01 && sound.clippedSampleCount == 0)
        #expect(try read(try wave(Array(repeating: 0, count: 80))).peak == 0)
    }

    @Test func `runs at full scale are clipping, a single sample is not`() throws {
        var samples = tone(800, loudness: 0.5)
        samples[100] = .max
        #expect(try read(try wave(samples)).clippedSampleCount == 0)
        for index in 200..<205 { samples[index] = .max }
        for index in 300..<303 { samples[index] = .min }
        #expect(try read(try wave(samples)).clippedSampleCount == 8)
    }

    @Test func `a sound that is too long is not read to its end`() throws {
        let sound = try SoundFile(path: try wave(tone(16_000, loudness: 1)), durationMillisecondsMax: 1000)
        #expect(sound.durationMilliseconds == 2000 && sound.peak == 0)
    }

    @Test func `unsupported formats and files that are not sounds are reported as such`() throws {
        #expect(throws: SoundFileError.self) { try read(try wave(tone(80, loudness: 0.5), bits: 8)) }
        let path = files.path(of: "text.oga")
        try Data("OggS no sound".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: SoundFileError.self) { try read(path) }
        #expect(throws: SoundFileError.self) { try read(files.path(of: "none.wav")) }
    }

    @Test func `the built-in sounds are short, valid and small`() throws {
        let folder = "\(RepositoryPaths.root)/deploy/sounds/posthorn/stereo"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(names == ["alarm", "bell", "drop", "glimmer", "posthorn", "wood"].map { "\($0).oga" })
        for name in names {
            let sound = try read("\(folder)/\(name)")
            #expect(sound.format == .vorbis && sound.clippedSampleCount == 0, "\(name)")
            #expect((100...2000).contains(sound.durationMilliseconds) && (0.3...0.95).contains(sound.peak), "\(name)")
            let size = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.size] as? Int ?? 0
            #expect(size < 12_000, "\(name)")
        }
    }
}
