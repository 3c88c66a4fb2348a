// SPDX-License-Identifier: Apache-2.0

internal import PushDBus
internal import PushNet

/// One boolean key of GSettings, read by the program `gsettings`.
///
/// Using GLib would add a second main loop to this process.
///
/// The key is read at the start, and again when dconf signals a change. It runs on the loop's thread.
final class GSettingsSwitch {
    /// The key's names.
    struct Key: Sendable {
        /// The arguments of `gsettings get`.
        var schema, name: String
        /// The key's path in dconf.
        var path: String
    }

    /// The time limit of `gsettings`; after it, the value is unknown.
    private static let timeLimit: Duration = .seconds(10)
    private static let answerByteCountMax = 1024

    /// The value; nil while it is unknown, and where the key does not exist.
    private(set) var isOn: Bool?
    private let key: Key
    private let loop: EventLoop
    private let log: EventLog
    private let command: LimitedProcess.Command
    private var process: LimitedProcess?
    /// Whether the key changed while it was read.
    private var isStale = false

    /// Starts reading the key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - program: The absolute path of `gsettings`.
    ///   - connection: The session bus, driven by the caller.
    ///   - loop: The loop that drives it.
    ///   - environment: The environment of `gsettings`, which finds the user's settings with it.
    ///   - log: Receives an event when the error output of `gsettings` is cut.
    /// - Throws: `BusError` when the bus refuses the subscription.
    init(
        _ key: Key, program: String, connection: BusConnection, loop: EventLoop, environment: [String: String],
        log: EventLog
    ) throws(BusError) {
        self.key = key
        self.loop = loop
        self.log = log
        command = LimitedProcess.Command(program, ["get", key.schema, key.name], environment: environment)
        try connection.subscribe(
            sender: "ca.desrt.dconf", path: "/ca/desrt/dconf/Writer/user", interface: "ca.desrt.dconf.Writer",
            member: "Notify"
        ) { [weak self] signal in
            // The signal names the key or a folder above it.
            guard let self, let changed = signal.arguments.first?.stringValue,
                self.key.path.utf8.starts(with: changed.utf8)
            else { return }
            read()
        }
        read()
    }

    private func read() {
        guard process == nil else { return isStale = true }
        isStale = false
        process = LimitedProcess(
            command, on: loop, timeLimit: Self.timeLimit, outputByteCountMax: Self.answerByteCountMax, log: log
        ) { [weak self] result in
            guard let self else { return }
            process = nil
            isOn = (try? result.get()).flatMap { answer in
                [true, false].first { answer.elementsEqual("\($0)\n".utf8) }
            }
            if isStale { read() }
        }
    }
}
