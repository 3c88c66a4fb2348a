// SPDX-License-Identifier: Apache-2.0

internal import AgentBus

/// Texts about the parts of a notification that the agent left out.
struct IgnoredText: Equatable, Sendable {
    /// A sentence for each part that the user would miss.
    private(set) var sentences: [String] = []
    /// The agent's own texts where no sentence says enough, for the developer of the app; may be empty.
    private(set) var details = ""

    /// Reads the lines of `ignored`, each of which is a member of the payload, a colon and a reason.
    init(_ lines: [String]) {
        var unknown: [String] = []
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            let reason = parts.last.map { String($0.drop { $0 == " " }) } ?? ""
            switch parts.first {
            case "url":
                sentences.append(tr("The link was left out because its address is not allowed."))
                unknown.append(line)
            case "attachment-url", "attachment-path":
                let problem = PictureProblem(phrase: reason)
                sentences.append(problem.map(Self.sentence) ?? tr("The picture could not be loaded."))
                if problem == nil { unknown.append(line) }
            default: unknown.append(line)
            }
        }
        details = unknown.map { VisibleText.line($0) }.joined(separator: "\n")
    }

    private static func sentence(_ problem: PictureProblem) -> String {
        switch problem {
        case .turnedOff: tr("The picture was not loaded because pictures are off for this app.")
        case .hostNotNamed: tr("The picture was not loaded because the app does not allow pictures from this server.")
        case .tooMany: tr("The picture was not loaded because too many others were being loaded.")
        case .late: tr("The picture did not arrive in time.")
        case .unknownType: tr("The format of the picture is not supported.")
        case .damaged: tr("The picture is damaged or too large.")
        }
    }
}
