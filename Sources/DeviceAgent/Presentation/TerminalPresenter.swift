// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import Glibc
internal import PushCore

/// Prints alerts on a terminal where there is no desktop.
///
/// Control characters in a payload have no effect.
final class TerminalPresenter: AlertPresenter {
    /// The delegate; a terminal has no buttons, so it is never called.
    weak var delegate: (any AlertPresenterDelegate)?

    private let write: ([UInt8]) -> Bool

    convenience init() { self.init(write: Self.writeToStandardOutput) }

    /// Prints through a closure that returns whether the bytes were written.
    init(write: @escaping ([UInt8]) -> Bool) { self.write = write }

    /// True until `present` notices that standard output is closed.
    private(set) var isAvailable = true

    /// Prints the app's name, the texts and the command that shows the entry.
    func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void) {
        let isWritten = write(Array(Self.text(of: alert).utf8))
        isAvailable = isWritten
        completion(isWritten ? .shown(playsSound: false) : .unavailable("standard output is closed"))
    }

    /// Does nothing, because printed lines stay.
    func withdraw(entries: [EntryID]) {}

    /// Does nothing, because printed lines have no buttons.
    func adopt(_ alerts: [(alert: Alert, location: AlertLocation)]) {}

    /// Returns the lines of an alert.
    ///
    ///     [Example Mail] Anna
    ///         Lunch at noon?
    ///         posthorn inbox show 7
    ///
    /// - Parameter alert: The alert to print.
    /// - Returns: The text, without control characters.
    static func text(of alert: Alert) -> String {
        let texts = [alert.title, alert.subtitle, alert.body].compactMap(\.self).flatMap(lines)
        let head = "[\(lines(alert.topLine).joined(separator: " "))] \(texts.first ?? "")"
        let rest = texts.dropFirst() + ["posthorn inbox show \(alert.entry)"]
        return ([head] + rest.map { "    \($0)" }).map { "\($0)\n" }.joined()
    }

    /// Splits a text by bytes, because `String` treats a carriage return with a line feed as one character.
    private static func lines(_ text: String) -> [String] {
        DisplayText.terminal(text).utf8.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func writeToStandardOutput(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return false }
            rest = rest.dropFirst(max(0, count))
        }
        return true
    }
}
