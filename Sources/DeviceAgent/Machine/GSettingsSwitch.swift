// SPDX-License-Identifier: Apache-2.0

internal import PushDBus
internal import PushNet

/// One switch of GSettings, as the program `gsettings` reads it: GLib would be a second main loop in this process.
///
/// It is read at the start, and again when dconf says that something about it changed. One thread, that of the loop.
final class GSettingsSwitch {
    /// Which switch.
    struct Key: Sendable {
        /// For `gsettings get`.
        var schema, name: String
        /// Where dconf keeps it.
        var path: String
    }

    /// A program that takes longer tells nothing.
    private static let timeLimit: Duration = .seconds(10)
    private static let answerByteCountMax = 1024

    /// Whether it is on; nil while that is not known, and where it is not there.
    private(set) var isOn: Bool?
    private let key: Key
    private let loop: EventLoop
    private let command: LimitedProcess.Command
    private var process: LimitedProcess?
    /// It changed while it was read.
    private var isStale = false

    /// Reads it from now on.
    ///
    /// - Parameters:
    ///   - key: Which switch.
    ///   - program: Where `gsettings` is.
    ///   - connection: The session bus, driven by the caller.
    ///   - loop: The loop that drives it.
    ///   - environment: Tells `gsettings` where the person's settings are.
    /// - Throws: `BusError` when the bus refuses the subscription.
    init(
        _ key: Key, program: String, connection: BusConnection, loop: EventLoop, environment: [String: String]
    ) throws(BusError) {
        self.key = key
        self.loop = loop
        command = LimitedProcess.Command(program, ["get", key.schema, key.name], environment: environment)
        try connection.subscribe(
            sender: "ca.desrt.dconf", path: "/ca/desrt/dconf/Writer/user", interface: "ca.desrt.dconf.Writer",
            member: "Notify"
        ) { [weak self] signal in
            // The key itself, or a folder above it.
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
            command, on: loop, timeLimit: Self.timeLimit, outputByteCountMax: Self.answerByteCountMax
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
