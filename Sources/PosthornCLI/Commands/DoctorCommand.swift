// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

/// The command `posthorn doctor`: checks the server and the device on this machine.
enum DoctorCommand {
    static let node = CommandNode(
        Command(
            "doctor", "Check the server and the agent on this machine.",
            discussion: """
                Each line is a check: ok, a warning, an error, or skipped; a remedy follows. Without options, the command \
                checks the parts that are installed here. The exit code is 0 without errors, even with warnings.
                """,
            options: [
                Option("server", "Check only the server."), Option("device", "Check only this user's agent."),
            ])
    ) { (invocation, context) throws(CommandError) in
        guard !invocation.has("server") || !invocation.has("device") else {
            throw .usage(invocation.error(.contradiction("--server and --device cannot be combined")))
        }
        var parts: [Part] = []
        let server = ServerDoctor(admin: context.admin(invocation))
        if !invocation.has("device") { parts.append(Part(name: "Server", findings: server.findings())) }
        if !invocation.has("server") {
            parts.append(Part(name: "Device", findings: DeviceDoctor(context: context).findings()))
        }
        // Most machines have one part only. A part that does not run is not an error beside one that does.
        if parts.count == 2, let running = parts.first(where: \.runs), let absent = parts.first(where: { !$0.runs }) {
            parts = [running, Part(name: absent.name, findings: absent.findings.map(Self.asSkipped))]
        }
        return report(of: parts)
    }

    /// The findings about the server or the device.
    struct Part: Encodable {
        let name: String
        let findings: [DoctorAPI.Finding]

        /// Whether the program of the part answered.
        var runs: Bool { findings.count > 1 }

        private enum CodingKeys: String, CodingKey {
            case name, findings
        }
    }

    /// The findings of both parts, as `--json` prints them.
    struct Result: Encodable {
        let parts: [Part]
        let errors: Int
        let warnings: Int
    }

    private static func asSkipped(_ finding: DoctorAPI.Finding) -> DoctorAPI.Finding {
        var finding = finding
        finding.state = .skipped
        return finding
    }

    /// Formats the findings.
    static func report(of parts: [Part]) -> Report {
        let all = parts.flatMap(\.findings)
        let result = Result(
            parts: parts, errors: all.count { $0.state == .error }, warnings: all.count { $0.state == .warning })
        let texts = parts.map { part in
            let table = Table(
                [.text(part.name.uppercased()), .text("STATE"), .sentence("RESULT")],
                rows: part.findings.map { finding in
                    let remedy = finding.remedy.map { " → \($0)" } ?? ""
                    return [finding.subject, finding.state.rawValue, "\(finding.text)\(remedy)"]
                })
            return table.text
        }
        func number(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
        let summary = "\(number(result.errors, "error")), \(number(result.warnings, "warning"))"
        var report = Report((texts + [summary]).joined(separator: "\n\n"), json: result)
        if result.errors > 0 { report.exitCode = .refused }
        return report
    }
}
