// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A private sound server of a test: a real PulseAudio with a null sink.
package final class DesktopSound: Sendable {
    /// The environment for programs that play sounds on this server only.
    package let environment: [String: String]
    /// The home and runtime directory of the server and its clients.
    package let files: TemporaryDirectory
    package let server: RunningProcess

    /// Starts the server and waits until it answers.
    ///
    /// - Parameter files: The directory of an earlier server whose address the new one takes, as after a restart; nil
    ///   for a new one.
    /// - Throws: `DeadlinePassed`, `MissingProgram`.
    package init(in files: TemporaryDirectory? = nil) async throws {
        let files = try files ?? TemporaryDirectory()
        self.files = files
        let home = files.path
        try files.makeDirectory("run")
        let socket = files.path(of: "socket")
        environment = [
            "HOME": home, "XDG_RUNTIME_DIR": "\(home)/run", "XDG_CACHE_HOME": home, "XDG_CONFIG_HOME": home,
            "PULSE_SERVER": "unix:\(socket)", "CANBERRA_DRIVER": "pulse", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/none",
        ]
        server = try RunningProcess(
            RepositoryPaths.tool("pulseaudio"),
            [
                "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes",
                "--log-level=info", "--log-target=stderr",
                "--load=module-null-sink sink_name=silent",
                "--load=module-native-protocol-unix auth-anonymous=1 socket=\(socket)",
            ], environment: environment)
        try await eventually("the sound server answers", evidence: { self.server.transcript }) {
            try await pactl("info").exit == .code(0)
        }
    }

    /// Runs `pactl` on the server.
    package func pactl(_ arguments: String...) async throws -> ProgramResult {
        try await RunningProcess.run(RepositoryPaths.tool("pactl"), arguments, environment: environment)
    }

    /// Waits until the server plays a sound with a property, such as `event.id = "bell"`.
    ///
    /// The server's log lists each sound that it starts with all properties, even a very short one.
    ///
    /// - Parameter property: The text of the property in the log.
    /// - Throws: `DeadlinePassed`.
    package func plays(_ property: String) async throws {
        try await eventually("the sound server plays \(property)", evidence: { self.server.transcript }) {
            server.errorOutput.contains(property)
        }
    }

    /// The number of sounds that were started.
    package var playedCount: Int { server.errorOutput.components(separatedBy: "Created input").count - 1 }

    /// Writes a WAV file with a square wave: 8 bits, one channel, 8 kHz.
    package func writeWave(to path: String, durationSeconds: Int) throws {
        let samples = (0..<durationSeconds * 8000).map { UInt8($0 / 10 % 2 == 0 ? 0x40 : 0xc0) }
        var bytes = Data("RIFF".utf8)
        func append(_ values: UInt32...) {
            for value in values {
                bytes.append(contentsOf: (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
            }
        }
        append(UInt32(samples.count + 36))
        bytes.append(contentsOf: "WAVEfmt ".utf8)
        append(16, 0x0001_0001, 8000, 8000, 0x0008_0001)
        bytes.append(contentsOf: "data".utf8)
        append(UInt32(samples.count))
        try (bytes + samples).write(to: URL(fileURLWithPath: path))
    }
}
