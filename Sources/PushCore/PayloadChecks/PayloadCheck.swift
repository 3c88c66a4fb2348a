// SPDX-License-Identifier: Apache-2.0

/// One thing that can be wrong with a notification as people meet it; docs/reference/payload-checks.md lists them all.
///
/// The letter says what is looked at: P the payload as a whole, T the title, M the message, O the layout, B buttons,
/// G the badge, S sounds, K the keys that APNs defines and the types of their values.
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

    /// How grave it is; a check may find something graver or less grave than this.
    package var severity: PayloadFinding.Severity {
        switch self {
        case .nothingToShow, .emptyTitle, .emptyMessage, .buttonCount, .cancelPlace, .badge, .soundWhenSilenced,
            .malformed, .tooLarge, .apsType, .alertType, .textType, .argumentsType, .soundType, .flagValue,
            .interruptionLevel, .relevanceScore, .numberType, .objectType:
            .error
        case .pronounInMessage, .repeatedAppName, .singleButton, .soundAlone:
            .advice
        case .tooManyAlerts, .repeatedAlert, .normalProgress, .dataOrSecret, .forcedAttention, .unsupportedPart,
            .layout, .confirmation, .connectionTrouble, .oneWordTitle, .longTitle, .punctuatedTitle, .titleCapitals,
            .titleQuestion, .pronounInTitle, .titleSentences, .longMessage, .unfinishedMessage, .smallBeginning,
            .capitalizedMessage, .shoutedMessage, .explainedButton, .quotedLabel, .advertising, .technicalTerm,
            .scrolling, .wordyLabel, .punctuatedLabel, .labelCapitals, .yesOrNo, .pronounInLabel, .wideLabel,
            .badgeLook, .vibration, .soundFile, .misspelledKey, .misplacedKey:
            .warning
        }
    }
}

extension PayloadCheck {
    /// What must be at hand to judge.
    package enum Input: CaseIterable, Sendable {
        /// The payload, and the push type and the app's name where they are known.
        case payload
        /// The payload, and the widths of docs/reference/payload-checks.md in place of a real screen.
        case layout
        /// What was sent to the same app on the same device before.
        case history
        /// What an app says of itself when it is registered.
        case registration
        /// A sound file that is being installed.
        case soundFile
        /// The buttons of an alert that a program of ours shows.
        case buttons
    }

    /// What must be at hand to judge.
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
            .flagValue, .interruptionLevel, .relevanceScore, .numberType, .objectType, .misspelledKey, .misplacedKey:
            .payload
        }
    }
}

extension PayloadCheck {
    /// For which push types it is made.
    package enum Scope: CaseIterable, Sendable {
        /// All.
        case all
        /// Those whose alerts a person sees: `alert`, `background`, `liveactivity`, and none said.
        case shown
        /// `alert`, and none said.
        case alert
    }

    /// For which push types it is made: what is silent by design is not told that it shows nothing.
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
            .badgeLook, .vibration, .soundFile, .soundWhenSilenced, .misplacedKey:
            .shown
        }
    }

    /// Whether it is made for a push type; nil is a notification without `apns-push-type`.
    package func applies(to pushType: PushType?) -> Bool {
        switch scope {
        case .all: true
        case .shown: pushType == nil || pushType == .alert || pushType == .background || pushType == .liveactivity
        case .alert: pushType == nil || pushType == .alert
        }
    }
}
