// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushCore
import TestSupport
import Testing

@testable import DeviceAgent

struct SoundInstallerTests {
    private let files: TemporaryDirectory
    private let installer: SoundInstaller
    private let builtIn = "\(RepositoryPaths.root)/deploy/sounds/posthorn/stereo"

    init() throws {
        files = try TemporaryDirectory()
        installer = SoundInstaller(
            environment: ["XDG_DATA_HOME": files.path(of: "data"), "XDG_DATA_DIRS": "\(RepositoryPaths.root)/deploy"])
    }

    /// Writes a built-in sound with other bytes: an additional comment at the start does not change the audio.
    private func sound(_ name: String, as file: String) throws -> String {
        let path = files.path(of: file)
        try FileManager.default.copyItem(atPath: "\(builtIn)/\(name).oga", toPath: path)
        return path
    }

    private func refusal(_ body: () throws -> String) -> String? {
        do { _ = try body() } catch let error as SoundInstallError { return error.message } catch { return "\(error)" }
        return nil
    }

    /// Writes a tone with 16 bits and 8 kHz, by default of one second.
    private func tone(_ file: String, loudness: Double = 0.5, seconds: Int = 1) throws -> String {
        let samples = (0..<8000 * seconds).flatMap { index -> [UInt8] in
            let sample = UInt16(bitPattern: Int16(max(-1, min(1, loudness * sin(Double(index) * 0.3))) * 32767))
            return [UInt8(truncatingIfNeeded: sample), UInt8(sample >> 8)]
        }
        let count = samples.count
        func little(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        let header =
            Array("RIFF".utf8) + little(36 + count) + Array("WAVEfmt ".utf8) + little(16) + [1, 0, 1, 0] + little(8000)
            + little(16_000) + [2, 0, 16, 0] + Array("data".utf8) + little(count)
        let path = files.path(of: file)
        try Data(header + samples).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func `a valid sound is installed for the app under the given name`() throws {
        #expect(try installer.install(try tone("ping.wav"), for: "org.example.Mail", name: "") == "ping")
        #expect(try installer.install(try tone("x.wav", loudness: 0.4), for: "org.example.Mail", name: "new") == "new")
        let sounds = installer.sounds(of: "org.example.Mail")
        #expect(sounds.prefix(2).map(\.name) == ["new", "ping"] && sounds.prefix(2).allSatisfy(\.isOfApp))
        #expect(sounds.dropFirst(2).map(\.name) == ["alarm", "bell", "drop", "glimmer", "posthorn", "wood"])
        #expect(installer.remove("ping", of: "org.example.Mail") && !installer.remove("ping", of: "org.example.Mail"))
        #expect(installer.sounds(of: "org.example.Mail").map(\.name).first == "new")
        installer.removeAll(of: "org.example.Mail")
        #expect(installer.sounds(of: "org.example.Mail").allSatisfy { !$0.isOfApp })
    }

    @Test func `a sound that is unsuitable is refused with a remedy`() throws {
        func refused(_ path: String, _ name: String = "") -> String {
            refusal { try installer.install(path, for: "org.example.Mail", name: name) } ?? "taken"
        }
        #expect(refused(try tone("long.wav", seconds: 31)).contains("31 s long"))
        #expect(refused(try tone("loud.wav", loudness: 3)).contains("clipped"))
        #expect(refused(try tone("silent.wav", loudness: 0)).contains("almost silent"))
        #expect(refused(try sound("bell", as: "mine.oga")).contains("the built-in 'bell'"))
        #expect(refused("\(RepositoryPaths.root)/README.md", "readme").contains("not a sound file"))
        #expect(refused(files.path(of: "lost.oga")).hasSuffix("No such file or directory."))
        for name in ["none", "as-sent", "default", "standard"] {
            #expect(refused(try tone("\(name).wav")).contains("reserved name"))
        }
        #expect(refused(try tone("good.wav"), "../x").contains("not a valid name"))
        #expect(installer.sounds(of: "org.example.Mail").allSatisfy { !$0.isOfApp })
    }

    @Test func `only playable files are sounds, and only installed sounds are known`() throws {
        let theme = try files.makeDirectory("data/sounds/freedesktop/stereo")
        _ = try files.write("x", to: "data/sounds/freedesktop/stereo/message.oga")
        _ = try files.write("x", to: try folder("org.example.Mail") + "/notes.txt")
        _ = try installer.install(try tone("ping.wav"), for: "org.example.Mail", name: "")
        #expect(installer.sounds(of: "org.example.Mail").filter(\.isOfApp).map(\.name) == ["ping"])
        #expect(installer.sounds(of: "").allSatisfy { !$0.isOfApp })
        #expect(["ping", "bell", "message"].allSatisfy { installer.knows($0, of: "org.example.Mail") }, "\(theme)")
        #expect(!installer.knows("ping", of: "org.example.Chat"))
        for name in ["nosuch", "../x", "notes", ""] { #expect(!installer.knows(name, of: "org.example.Mail")) }
    }

    private func folder(_ appID: String) throws -> String {
        let folder = "data/posthorn/sounds/\(appID)"
        _ = try files.makeDirectory(folder)
        return folder
    }

    @Test func `two apps cannot have the same sound`() throws {
        let path = try tone("ping.wav")
        #expect(try installer.install(path, for: "org.example.Mail", name: "") == "ping")
        #expect(try installer.install(path, for: "org.example.Mail", name: "") == "ping")
        let twin = refusal { try installer.install(path, for: "org.example.Chat", name: "") }
        #expect(twin?.contains("'ping' of org.example.Mail") == true, "\(twin ?? "")")
    }
}
