// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Finds secrets and payload texts in the standard error output of a program.
///
/// `RunningProcess` inspects each server, agent and panel when it exits, so each test that starts one also tests its
/// log.
package enum LogInspection {
    /// A log line that contains a secret.
    package struct Finding: Equatable, Sendable {
        /// The kind of the secret.
        package let kind: String
        /// The event name of the line, or the start of a line without one.
        package let event: String
    }

    /// The maximum number of bytes that are read from the start and from the end of an output, each.
    static let byteCountMax = 1 << 20

    /// Inspects a file; a missing file has no findings.
    static func findings(inFile path: String) -> [Finding] {
        guard let file = FileHandle(forReadingAtPath: path) else { return [] }
        defer { try? file.close() }
        var text = (try? file.read(upToCount: byteCountMax)) ?? Data()
        if let end = try? file.seekToEnd(), end > UInt64(byteCountMax) {
            try? file.seek(toOffset: max(UInt64(byteCountMax), end - min(end, UInt64(byteCountMax))))
            text += (try? file.read(upToCount: byteCountMax)) ?? Data()
        }
        return findings(in: text)
    }

    /// Inspects a text.
    package static func findings(in text: String) -> [Finding] { findings(in: Data(text.utf8)) }

    private static func findings(in text: Data) -> [Finding] {
        // Most logs contain no secret, and bytes are faster to search than a `String`.
        let words = SecretWords.known.filter { text.range(of: Data($0.text.utf8)) != nil }
        let patterns = patterns.filter { $0.sign.isPresent(in: text) }
        guard !words.isEmpty || !patterns.isEmpty else { return [] }
        var findings: [Finding] = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let line = String(decoding: line, as: UTF8.self)
            let kinds = patterns.filter { $0.matches(line) }.map(\.kind)
            for kind in kinds + words.filter({ line.contains($0.text) }).map(\.kind) {
                let finding = Finding(kind: kind, event: event(of: line))
                if !findings.contains(finding) { findings.append(finding) }
            }
        }
        return findings
    }

    private static func event(of line: String) -> String {
        line.firstMatch(of: /event=([A-Za-z_-]+)/).map { String($0.1) } ?? String(line.prefix(24))
    }

    private struct Pattern: Sendable {
        let kind: String
        /// Something that is present in each text with the secret, and is found quickly.
        let sign: Sign
        let matches: @Sendable (String) -> Bool
    }

    private enum Sign: Sendable {
        case oneOf([String])
        /// A number of consecutive bytes of a kind.
        case run(Int, @Sendable (UInt8) -> Bool)

        func isPresent(in text: Data) -> Bool {
            switch self {
            case .oneOf(let texts): return texts.contains { text.range(of: Data($0.utf8)) != nil }
            case .run(let count, let belongs):
                var length = 0
                for byte in text {
                    length = belongs(byte) ? length + 1 : 0
                    if length == count { return true }
                }
                return false
            }
        }
    }

    private static let patterns = [
        Pattern(kind: "a provider token", sign: .oneOf(["eyJ"])) { $0.contains(/eyJ[A-Za-z0-9_\-]{8}/) },
        Pattern(kind: "64 hexadecimal digits, as of a device token", sign: .run(64, isWord)) { line in
            runs(in: line, where: \.isHexDigit).contains { $0.count == 64 }
        },
        Pattern(kind: "43 characters of base64url, as of a device secret", sign: .run(43, isWord)) { line in
            runs(in: line) { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }.contains {
                $0.count == 43 && $0.contains(where: \.isUppercase) && $0.contains(where: \.isLowercase)
                    && $0.contains(where: \.isNumber)
            }
        },
        Pattern(kind: "a private key", sign: .oneOf(["PRIVATE KEY", "MIG", "MIH"])) {
            $0.contains("PRIVATE KEY") || $0.contains(/MI(GH|GT|HN)AgEA/)
        },
        Pattern(kind: "an enrolment code", sign: .run(14, isCode)) {
            $0.contains(/\b[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}\b/)
        },
        Pattern(kind: "a payload", sign: .oneOf(["\"aps"])) { $0.contains(/"aps\\?"/) },
    ]

    private static func runs(in line: String, where belongs: (Character) -> Bool) -> [Substring] {
        line.split { !belongs($0) }
    }

    /// Returns whether a byte can be a part of a secret in base64url or in hexadecimal digits.
    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"): true
        default: isCode(byte)
        }
    }

    /// Returns whether a byte can be a part of an enrolment code.
    private static func isCode(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"): true
        default: false
        }
    }
}

/// The texts that no log may contain: alert texts that tests sent, and the secrets of their servers and devices.
package enum SecretWords {
    /// A text and the kind of secret that it is.
    struct Word: Sendable {
        let kind: String
        let text: String
    }

    /// The minimum length; shorter texts may occur in a log for another reason.
    private static let characterCountMin = 12
    /// The maximum number of texts; new texts replace the oldest ones.
    private static let countMax = 2000
    // Safety: only accessed while `lock` is held.
    private nonisolated(unsafe) static var words: [Word] = []
    private static let lock = NSLock()

    static var known: [Word] { lock.withLock { unsafe words } }

    /// Adds a secret; ignores a text that is too short.
    package static func add(_ kind: String, _ text: String) {
        guard text.count >= characterCountMin else { return }
        lock.withLock {
            guard unsafe !words.contains(where: { $0.text == text }) else { return }
            unsafe words.append(Word(kind: kind, text: text))
            unsafe words.removeFirst(max(0, words.count - countMax))
        }
    }

    /// Adds the texts of a payload's alert.
    package static func add(payload: String) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: Any],
            let aps = object["aps"] as? [String: Any]
        else { return }
        if let alert = aps["alert"] as? String { add("a text of a payload", alert) }
        for text in (aps["alert"] as? [String: Any] ?? [:]).values.compactMap({ $0 as? String }) {
            add("a text of a payload", text)
        }
    }
}
