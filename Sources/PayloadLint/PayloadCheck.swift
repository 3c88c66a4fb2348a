// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A check for a problem in notifications that users see; docs/reference/payload-checks.md lists all checks.
///
/// The letter in the raw value names the part that is checked: P the payload as a whole, T the title, M the message, O
/// the layout, B buttons, G the badge, S sounds, K the keys that APNs defines and the types of their values.
package enum PayloadCheck: String, CaseIterable, Sendable {
    case nothingToShow = "L-P01"
    case tooManyAlerts = "L-P02"
    case repeatedAlert = "L-P03"
    case normalProgress = "L-P04"
    case dataOrSecret = "L-P05"
    case forcedAttention = "L-P06"
    case unsupportedPart = "L-P07"
    case layout = "L-P08"
    case confirmation = "L-P09"
    case connectionTrouble = "L-P10"

    case emptyTitle = "L-T00"
    case oneWordTitle = "L-T01"
    case longTitle = "L-T02"
    case punctuatedTitle = "L-T03"
    case titleCapitals = "L-T04"
    case titleQuestion = "L-T05"
    case pronounInTitle = "L-T06"
    case titleSentences = "L-T07"

    case longMessage = "L-M01"
    case unfinishedMessage = "L-M02"
    case smallBeginning = "L-M03"
    case capitalizedMessage = "L-M04"
    case shoutedMessage = "L-M05"
    case pronounInMessage = "L-M06"
    case explainedButton = "L-M07"
    case quotedLabel = "L-M08"
    case advertising = "L-M09"
    case technicalTerm = "L-M10"
    case emptyMessage = "L-M11"
    case repeatedAppName = "L-M12"

    case scrolling = "L-O01"

    case buttonCount = "L-B01"
    case singleButton = "L-B02"
    case wordyLabel = "L-B03"
    case punctuatedLabel = "L-B04"
    case labelCapitals = "L-B05"
    case yesOrNo = "L-B06"
    case pronounInLabel = "L-B07"
    case cancelPlace = "L-B08"
    case wideLabel = "L-B09"

    case badge = "L-G01"
    case badgeLook = "L-G02"

    case vibration = "L-S01"
    case soundFile = "L-S02"
    case soundWhenSilenced = "L-S03"
    case soundAlone = "L-S04"

    case malformed = "L-K01"
    case tooLarge = "L-K02"
    case apsType = "L-K03"
    case alertType = "L-K04"
    case textType = "L-K05"
    case argumentsType = "L-K06"
    case soundType = "L-K07"
    case flagValue = "L-K08"
    case interruptionLevel = "L-K09"
    case relevanceScore = "L-K10"
    case numberType = "L-K11"
    case objectType = "L-K12"
    case misspelledKey = "L-K13"
    case misplacedKey = "L-K14"
    case badLink = "L-K15"
    case badPicture = "L-K16"

    /// The default severity; a check may report a finding with a higher or lower one.
    var severity: PayloadFinding.Severity {
        switch self {
        case .nothingToShow, .emptyTitle, .emptyMessage, .buttonCount, .cancelPlace, .badge, .soundWhenSilenced,
            .malformed, .tooLarge, .apsType, .alertType, .textType, .argumentsType, .soundType, .flagValue,
            .interruptionLevel, .relevanceScore, .numberType, .objectType:
            .error
        case .pronounInMessage, .repeatedAppName, .singleButton, .soundAlone, .titleCapitals:
            .advice
        case .tooManyAlerts, .repeatedAlert, .normalProgress, .dataOrSecret, .forcedAttention, .unsupportedPart,
            .layout, .confirmation, .connectionTrouble, .oneWordTitle, .longTitle, .punctuatedTitle, .titleQuestion,
            .pronounInTitle, .titleSentences, .longMessage, .unfinishedMessage, .smallBeginning, .capitalizedMessage,
            .shoutedMessage, .explainedButton, .quotedLabel, .advertising, .technicalTerm,
            .scrolling, .wordyLabel, .punctuatedLabel, .labelCapitals, .yesOrNo, .pronounInLabel, .wideLabel,
            .badgeLook, .vibration, .soundFile, .misspelledKey, .misplacedKey, .badLink, .badPicture:
            .warning
        }
    }
}

extension PayloadCheck {
    /// The input that a check needs.
    package enum Input: CaseIterable, Sendable {
        /// The payload, and the push type and the app's name if they are known.
        case payload
        /// The payload, and the widths of docs/reference/payload-checks.md instead of a real screen.
        case layout
        /// The earlier notifications to the same app on the same device.
        case history
        /// The declarations of an app at its registration.
        case registration
        /// A sound file during its installation.
        case soundFile
        /// The buttons of an alert that one of Posthorn's programs shows.
        case buttons
    }

    /// The input that the check needs.
    package var input: Input {
        switch self {
        case .tooManyAlerts, .repeatedAlert: .history
        case .unsupportedPart: .registration
        case .soundFile: .soundFile
        case .cancelPlace: .buttons
        case .longTitle, .longMessage, .scrolling, .wideLabel: .layout
        case .nothingToShow, .normalProgress, .dataOrSecret, .forcedAttention, .layout, .confirmation,
            .connectionTrouble, .emptyTitle, .oneWordTitle, .punctuatedTitle, .titleCapitals, .titleQuestion,
            .pronounInTitle, .titleSentences, .unfinishedMessage, .smallBeginning, .capitalizedMessage,
            .shoutedMessage, .pronounInMessage, .explainedButton, .quotedLabel, .advertising, .technicalTerm,
            .emptyMessage, .repeatedAppName, .buttonCount, .singleButton, .wordyLabel, .punctuatedLabel,
            .labelCapitals, .yesOrNo, .pronounInLabel, .badge, .badgeLook, .vibration, .soundWhenSilenced,
            .soundAlone, .malformed, .tooLarge, .apsType, .alertType, .textType, .argumentsType, .soundType,
            .flagValue, .interruptionLevel, .relevanceScore, .numberType, .objectType, .misspelledKey, .misplacedKey,
            .badLink, .badPicture:
            .payload
        }
    }
}

extension PayloadCheck {
    /// The push types to which a check applies.
    package enum Scope: CaseIterable, Sendable {
        /// All push types.
        case all
        /// Push types with visible alerts: `alert`, `background`, `liveactivity`, and no push type.
        case shown
        /// Push type `alert`, and no push type.
        case alert
    }

    /// The push types to which the check applies.
    ///
    /// A notification that is silent by design gets no finding that it shows nothing.
    package var scope: Scope {
        switch self {
        case .nothingToShow, .soundAlone: .alert
        case .badge, .malformed, .tooLarge, .apsType, .alertType, .textType, .argumentsType, .soundType, .flagValue,
            .interruptionLevel, .relevanceScore, .numberType, .objectType, .misspelledKey:
            .all
        case .tooManyAlerts, .repeatedAlert, .normalProgress, .dataOrSecret, .forcedAttention, .unsupportedPart,
            .layout, .confirmation, .connectionTrouble, .emptyTitle, .oneWordTitle, .longTitle, .punctuatedTitle,
            .titleCapitals, .titleQuestion, .pronounInTitle, .titleSentences, .longMessage, .unfinishedMessage,
            .smallBeginning, .capitalizedMessage, .shoutedMessage, .pronounInMessage, .explainedButton, .quotedLabel,
            .advertising, .technicalTerm, .emptyMessage, .repeatedAppName, .scrolling, .buttonCount, .singleButton,
            .wordyLabel, .punctuatedLabel, .labelCapitals, .yesOrNo, .pronounInLabel, .cancelPlace, .wideLabel,
            .badgeLook, .vibration, .soundFile, .soundWhenSilenced, .misplacedKey, .badLink, .badPicture:
            .shown
        }
    }

    /// Returns whether the check applies to a push type; nil is a notification without `apns-push-type`.
    package func applies(to pushType: PushType?) -> Bool {
        switch scope {
        case .all: true
        case .shown: pushType == nil || pushType == .alert || pushType == .background || pushType == .liveactivity
        case .alert: pushType == nil || pushType == .alert
        }
    }
}
