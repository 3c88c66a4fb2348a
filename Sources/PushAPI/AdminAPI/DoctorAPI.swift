// SPDX-License-Identifier: Apache-2.0

/// The results of the checks of `posthorn doctor`.
public enum DoctorAPI {
    /// The result of one check of `posthorn doctor`.
    public struct Finding: Codable, Equatable, Sendable {
        /// How serious a finding is.
        public enum State: String, Codable, Sendable {
            case ok, warning, error
            /// The check is not possible now; `text` says why.
            case skipped
        }

        /// The checked thing, in one or two words.
        public var subject: String
        public var state: State
        /// The result, in one sentence.
        public var text: String
        /// The action that solves the problem; nil without a problem.
        public var remedy: String?

        public init(_ subject: String, _ state: State, _ text: String, remedy: String? = nil) {
            self.subject = subject
            self.state = state
            self.text = text
            self.remedy = remedy
        }
    }

    /// The response of `GET /v1/doctor`.
    public struct Findings: Codable, Sendable {
        public var findings: [Finding]

        public init(findings: [Finding]) { self.findings = findings }
    }
}
