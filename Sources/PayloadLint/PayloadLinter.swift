// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// Checks the parts of notifications that users see, in one pass over the bytes and one over each text.
///
/// A payload without findings allocates no memory. docs/reference/payload-checks.md lists the checks.
package enum PayloadLinter {
    /// The maximum number of findings in one payload; the ones of higher severity stay.
    static let findingCountMax = 16
    /// The maximum number of unknown keys in one payload that are checked for typos.
    ///
    /// A payload with more unknown keys does not have them by mistake.
    static let spellingCountMax = 16
    /// The columns of an alert's title that fit on the smallest screen; a wide character takes two columns.
    static let titleColumnCount = 28
    /// The columns of an alert's message.
    static let messageColumnCount = 40
    /// The columns of a button's title: half of the alert's width.
    static let labelColumnCount = 14
    /// The number of lines of title and message together that an alert shows on a portrait screen.
    static let portraitLineCount = 18
    /// The number of lines of title and message together that an alert shows on a landscape screen.
    static let landscapeLineCount = 10
    /// The maximum size of a custom object that still looks like a hint and not like the data itself, in bytes.
    static let customObjectByteCountMax = 256
    /// The minimum length of a text without spaces that looks like a key or encoded data, in bytes.
    static let secretByteCountMin = 64

    /// Returns the findings of a notification, in order; empty for a good one.
    ///
    /// - Parameters:
    ///   - payload: The payload as the provider sent it. If it is not a JSON object, one finding gives the position.
    ///   - pushType: The `apns-push-type`; nil if the provider sent none. A payload without `aps` then counts as
    ///     silent.
    ///   - appName: The app's registered name, if it is known.
    ///   - history: The earlier notifications of the app to this device, with the current time; nil if unknown.
    /// - Returns: At most `findingCountMax` findings.
    package static func findings(
        payload: Span<UInt8>, pushType: PushType?, appName: String? = nil, history: PayloadHistory? = nil
    ) -> [PayloadFinding] {
        lint(payload: payload, pushType: pushType, appName: appName, history: history).findings
    }

    /// The result of one pass over a payload.
    package struct Verdict {
        package let findings: [PayloadFinding]
        /// The alert for the history; nil without a history, or when the payload has no alert.
        package let alert: PayloadHistory.Alert?
    }

    /// Returns the findings and also the alert, so that recording it in the history needs no second pass.
    ///
    /// - Parameters:
    ///   - payload: The payload as the provider sent it.
    ///   - pushType: The `apns-push-type`; nil if the provider sent none.
    ///   - appName: The app's registered name, if it is known.
    ///   - history: The earlier notifications of the app to this device, with the current time; nil if unknown.
    /// - Returns: The findings and the alert.
    package static func lint(
        payload: Span<UInt8>, pushType: PushType?, appName: String?, history: PayloadHistory?
    ) -> Verdict {
        var findings = PayloadFindings(pushType: pushType)
        var alert: PayloadHistory.Alert?
        do throws(JSONError) {
            let reading = try PayloadReading(payload) { findings.checkKey($0, in: payload) }
            findings.checkKinds(of: reading, in: payload)
            findings.checkWhole(reading, payload)
            findings.checkAlert(reading, payload, appName: appName)
            if let history {
                alert = PayloadHistory.Alert(reading, in: payload)
                findings.checkRepetition(of: alert, after: history)
            }
        } catch {
            // Findings from before a syntax error are not useful.
            findings = PayloadFindings(pushType: pushType)
            findings.add(.malformed, "", text: PayloadAdvice.sentence(for: error, in: payload))
        }
        return Verdict(findings: findings.list, alert: alert)
    }
}

extension PayloadFindings {
    /// Checks properties of the payload as a whole.
    mutating func checkWhole(_ reading: PayloadReading, _ payload: Span<UInt8>) {
        let byteCountMax = pushType?.payloadByteCountMax ?? Limits.payloadByteCountMax
        if payload.count > byteCountMax {
            add(
                .tooLarge, "",
                text: "The payload has \(payload.count) bytes, but at most \(byteCountMax) are allowed: "
                    + "send less, and let the app fetch the rest.")
        }
        let hasAlert = reading[.alert].isGiven
        let hasBadge = reading[.badge].isGiven
        guard !hasAlert, !hasBadge else { return }
        if reading[.sound].isGiven { return add(.soundAlone, "aps.sound") }
        // Wallet, MDM and others send neither push type nor `aps`. A push that wakes an app has nothing to show.
        let isSilent =
            reading.isFlagSet(.contentAvailable, in: payload)
            || (pushType == nil && reading[.aps].kind == .absent)
        if !isSilent { add(.nothingToShow, "aps") }
    }
}

extension PayloadReading {
    /// Returns whether a flag is the number 1.
    func isFlagSet(_ field: PayloadField, in payload: Span<UInt8>) -> Bool {
        let value = self[field]
        return value.kind == .integer && value.range.count == 1 && payload[value.range.lowerBound] == UInt8(ascii: "1")
    }
}
