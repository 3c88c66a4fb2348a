// SPDX-License-Identifier: Apache-2.0

/// Judges notifications as people meet them: one walk over the bytes, and one over each text.
///
/// A payload without findings costs no memory. docs/reference/payload-checks.md lists the checks.
package enum PayloadLinter {
    /// The most findings of one payload; the graver ones stay.
    package static let findingCountMax = 16
    /// Unknown keys of one payload that are looked at for misspellings; a payload with more is no slip.
    package static let spellingCountMax = 16
    /// The columns of an alert's title, of which a wide character takes two: what fits on the smallest screen.
    package static let titleColumnCount = 28
    /// The columns of an alert's message.
    package static let messageColumnCount = 40
    /// The columns of a button's title: half of the alert's width.
    package static let labelColumnCount = 14
    /// Lines of title and message together that an alert shows on a screen that is high.
    package static let portraitLineCount = 18
    /// Lines of title and message together that an alert shows on a screen that is wide.
    package static let landscapeLineCount = 10
    /// The longest object beside `aps` that still looks like a hint and not like the data itself, in bytes.
    package static let customObjectByteCountMax = 256
    /// The shortest text without blanks that looks like a key or like encoded data, in bytes.
    package static let secretByteCountMin = 64

    /// What is wrong with a notification, in order; nothing, for a good one.
    ///
    /// - Parameters:
    ///   - payload: The payload as the provider sent it. One that is no JSON object has one finding, which says where.
    ///   - pushType: `apns-push-type`; nil when the provider said nothing. Then a payload without `aps` is as silent as
    ///     one of a silent type.
    ///   - appName: The app's registered name, if it is known.
    ///   - history: What the app sent to this device before, with the time; nil when nobody remembers.
    /// - Returns: At most `findingCountMax`.
    package static func findings(
        payload: Span<UInt8>, pushType: PushType?, appName: String? = nil, history: PayloadHistory? = nil
    ) -> [PayloadFinding] {
        judge(payload: payload, pushType: pushType, appName: appName, history: history).findings
    }

    /// What one walk over a payload tells.
    package struct Verdict {
        /// As `findings` returns them.
        package let findings: [PayloadFinding]
        /// For the history, if one was given and people see an alert.
        package let alert: PayloadHistory.Alert?
    }

    /// As `findings`, and tells the alert, so that its history needs no walk of its own.
    ///
    /// - Parameters:
    ///   - payload: The payload as the provider sent it.
    ///   - pushType: `apns-push-type`; nil when the provider said nothing.
    ///   - appName: The app's registered name, if it is known.
    ///   - history: What the app sent to this device before, with the time; nil when nobody remembers.
    /// - Returns: The findings and the alert.
    package static func judge(
        payload: Span<UInt8>, pushType: PushType?, appName: String?, history: PayloadHistory?
    ) -> Verdict {
        var findings = PayloadFindings(pushType: pushType)
        var alert: PayloadHistory.Alert?
        do throws(JSONError) {
            let reading = try PayloadReading(payload) { findings.judge($0, in: payload) }
            findings.judgeKinds(of: reading, in: payload)
            findings.judgeWhole(reading, payload)
            findings.judgeAlert(reading, payload, appName: appName)
            if let history {
                alert = PayloadHistory.Alert(reading, in: payload)
                findings.judge(alert, after: history)
            }
        } catch {
            // What was found before the error is not worth telling.
            findings = PayloadFindings(pushType: pushType)
            findings.add(.malformed, "", text: PayloadAdvice.sentence(for: error, in: payload))
        }
        return Verdict(findings: findings.list, alert: alert)
    }
}

extension PayloadFindings {
    /// Judges what concerns no single field.
    mutating func judgeWhole(_ reading: PayloadReading, _ payload: Span<UInt8>) {
        let byteCountMax = pushType?.payloadByteCountMax ?? Limits.payloadByteCountMax
        if payload.count > byteCountMax {
            add(
                .tooLarge, "",
                text: "The payload has \(payload.count) bytes and may have \(byteCountMax): "
                    + "send less, and let the app fetch the rest.")
        }
        let hasAlert = reading[.alert].isGiven
        let hasBadge = reading[.badge].isGiven
        guard !hasAlert, !hasBadge else { return }
        if reading[.sound].isGiven { return add(.soundAlone, "aps.sound") }
        // Wallet, MDM and others send no push type and no aps; a push that wakes an app has nothing to show.
        let isSilent =
            reading.isFlagSet(.contentAvailable, in: payload)
            || (pushType == nil && reading[.aps].kind == .absent)
        if !isSilent { add(.nothingToShow, "aps") }
    }
}

extension PayloadReading {
    /// Whether a flag is the number 1.
    func isFlagSet(_ field: PayloadField, in payload: Span<UInt8>) -> Bool {
        let value = self[field]
        return value.kind == .integer && value.range.count == 1 && payload[value.range.lowerBound] == UInt8(ascii: "1")
    }
}
