// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// Generates docs/reference/dbus.md and the agent's introspection source from the XML files in deploy/dbus.
enum DBusPage {
    static let agentFile = "deploy/dbus/org.posthorn.Agent1.xml"
    static let appFile = "deploy/dbus/org.posthorn.App1.xml"

    static func render() -> String {
        """
        # D-Bus

        <!-- Generated from deploy/dbus by `make pages`. -->

        This page is for developers of apps. It describes the two D-Bus interfaces between apps and the agent, on the session
        bus. The same descriptions are in the XML files in `deploy/dbus`, and in the agent's introspection data:
        `busctl --user introspect org.posthorn.Agent1 /org/posthorn/Agent1`. [Examples](../../examples/README.md) shows apps
        in Python and in a shell. An app describes itself in its [manifest](app-manifest.md).

        \(section(agentFile))

        \(section(appFile))

        """
    }

    /// Returns the source of `AgentIntrospection`.
    static func introspectionSource() -> String {
        let lines = xml(agentFile).split(separator: "\n", omittingEmptySubsequences: false)
        let text = lines.map { $0.isEmpty ? "" : "        \($0)" }.joined(separator: "\n")
        return """
            // SPDX-License-Identifier: Apache-2.0

            /// The description of the agent's object that `Introspect` returns.
            ///
            /// `make pages` generates this file from deploy/dbus/org.posthorn.Agent1.xml.
            package enum AgentIntrospection {
                /// The introspection data of the agent's object, in XML.
                package static let xml: StaticString = #\"""
            \(text)
                    \"""#
            }

            """
    }

    private static func xml(_ file: String) -> String { readText("\(RepositoryPaths.root)/\(file)") }

    /// Renders an interface: its description, its methods and its signals.
    private static func section(_ file: String) -> String {
        var parts: [String] = []
        var comment = ""
        var member: Member?
        for token in xml(file).matches(of: /(?s)<!--(.*?)-->|<(\/?)(interface|method|signal|arg)\b(.*?)(\/?)>/) {
            if let text = token.1 {
                comment = paragraphs(of: String(text))
                continue
            }
            let attributes = String(token.4 ?? "")
            let isEnd = token.2 == "/" || token.5 == "/"
            switch token.3 {
            case "interface" where token.2 != "/":
                parts.append("## \(value("name", attributes))\n\n\(comment)")
            case "arg":
                member?.add(value("name", attributes), value("type", attributes), value("direction", attributes))
                continue
            case "method" where token.2 != "/", "signal" where token.2 != "/":
                member = Member(name: value("name", attributes), isSignal: token.3 == "signal", text: comment)
            default: break
            }
            if token.3 != "interface", isEnd, let whole = member {
                parts.append(whole.rendered)
                member = nil
            }
            comment = ""
        }
        return parts.joined(separator: "\n\n")
    }

    private static func value(_ name: String, _ attributes: String) -> String {
        attributes.components(separatedBy: "\(name)=\"").dropFirst().first?.components(separatedBy: "\"").first ?? ""
    }

    /// Removes the indentation from the comment's lines.
    private static func paragraphs(of comment: String) -> String {
        comment.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private struct Member {
        let name: String
        let isSignal: Bool
        let text: String
        var taken: [String] = []
        var answered: [String] = []

        mutating func add(_ name: String, _ type: String, _ direction: String) {
            let argument = "\(name) \(type)"
            if direction == "out" { answered.append(argument) } else { taken.append(argument) }
        }

        var rendered: String {
            let answer = answered.isEmpty ? "" : " → \(answered.joined(separator: ", "))"
            let signature = "`\(name)(\(taken.joined(separator: ", ")))\(answer)`"
            let heading = "### \(isSignal ? "Signal " : "")\(name)\n\n\(signature)"
            return text.isEmpty ? heading : "\(heading)\n\n\(text)"
        }
    }
}
