// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI

/// The command `posthorn team`: lists the teams that own apps and keys.
enum TeamCommands {
    static let group = CommandNode(
        group: "team", "List the teams that own apps and keys.",
        discussion: """
            A team exists as long as it owns an app or a key. To create a team, add its first app: posthorn app add TOPIC \
            --team TEAM
            """,
        children: [list], defaultChild: "list")

    private static let list = CommandNode(
        Command("list", "List the teams with the number of their apps and valid keys.")
    ) { (invocation, context) throws(CommandError) in
        report(of: try teams(of: context.admin(invocation)))
    }

    /// A team, in the JSON of `team list`.
    struct Team: Encodable, Equatable, Sendable {
        let teamID: String
        let appCount: Int
        /// The number of keys that are not revoked.
        let keyCount: Int
        /// Whether the server uses this team for apps and keys without a team.
        let isDefault: Bool

        private enum CodingKeys: String, CodingKey {
            case teamID = "team_id"
            case appCount = "app_count"
            case keyCount = "key_count"
            case isDefault = "default"
        }
    }

    /// Queries the server for its teams.
    static func teams(of client: AdminClient) throws(CommandError) -> [Team] {
        teams(
            of: try client.send(.get("apps"), for: AdminAPI.Apps.self).apps,
            try client.send(.get("keys"), for: CredentialAPI.Keys.self).keys,
            defaultTeamID: try client.send(.get("status"), for: AdminAPI.Status.self).teamID)
    }

    /// Runs a request that creates its team if the ID is new, and prints a note if it created one.
    ///
    /// - Parameters:
    ///   - teamID: The team of the command line; nil for the server's own.
    ///   - client: The client of the server.
    ///   - hint: Advice that follows the note.
    ///   - request: Sends the request and returns its answer.
    /// - Returns: The answer.
    /// - Throws: The errors of the request.
    static func notingNewTeam<Answer>(
        _ teamID: String?, of client: AdminClient, hint: String = "",
        _ request: () throws(CommandError) -> Answer
    ) throws(CommandError) -> Answer {
        // The team list is only for the note, so an error of this request is ignored.
        let teams = teamID.flatMap { _ in try? Self.teams(of: client) }
        let answer = try request()
        if let teamID, let teams, !teams.contains(where: { $0.teamID.utf8.elementsEqual(teamID.utf8) }) {
            Console.note(["Created team \(oneLine(teamID)).\(hint)"])
        }
        return answer
    }

    /// Groups apps and keys by team.
    ///
    /// - Parameters:
    ///   - apps: All apps of the server.
    ///   - keys: All keys of the server, with revoked ones.
    ///   - defaultTeamID: The server's own team, which is listed even when it owns nothing.
    /// - Returns: The default team, then the others by ID.
    static func teams(of apps: [AdminAPI.App], _ keys: [CredentialAPI.Key], defaultTeamID: String) -> [Team] {
        let others = Set(apps.map(\.teamID) + keys.map(\.teamID)).subtracting([defaultTeamID])
        return ([defaultTeamID] + others.sorted()).map { id in
            Team(
                teamID: id, appCount: apps.count { $0.teamID == id },
                keyCount: keys.count { $0.teamID == id && $0.revokedAt == nil }, isDefault: id == defaultTeamID)
        }
    }

    /// Formats the output of `team list`.
    static func report(of teams: [Team]) -> Report {
        let table = Table(
            [.text("TEAM ID"), .number("APPS"), .number("KEYS"), .text("")],
            rows: teams.map { [$0.teamID, "\($0.appCount)", "\($0.keyCount)", $0.isDefault ? "default" : ""] })
        return Report(table.text, json: ["teams": teams])
    }
}
