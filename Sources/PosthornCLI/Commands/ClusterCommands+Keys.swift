// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import Glibc
internal import PushAPI
internal import PushNet

/// The commands of `posthorn cluster` that create and replace keys.
extension ClusterCommands {
    static let initialize = CommandNode(
        Command(
            "init", "Prepare PostgreSQL and this machine for a cluster.",
            discussion: """
                On an empty database, the command creates the tables, the key of the cluster in cluster.key, the keys \
                of device tokens and the authority. If the data directory of this machine already has token keys and \
                an authority, the cluster gets those. On the database of an existing cluster, the command needs the \
                cluster.key of another node, and gets everything else from PostgreSQL. It changes nothing that exists, \
                so it can be repeated. The first start of a node does the same.

                The configuration needs url in [store] and address in [cluster]. The command runs \
                'posthornd --init-cluster' and has its exit codes, so posthornd must be installed on this machine. \
                Run it as root or as the server's user. PostgreSQL's password comes from PGPASSWORD or from ~/.pgpass \
                of this user.
                """,
            options: [
                Option("config", value: "FILE", "The configuration file of the server.", values: .file),
                Option("data-directory", value: "DIR", "The data directory of the server.", values: .directory),
            ],
            examples: [
                Explanation("posthorn cluster init", "Prepare the cluster of /etc/posthorn/posthornd.ini.")
            ],
            exitCodes: [Explanation("64 to 78", "Those of posthornd(8).")],
            unused: ["json"] + AgentCommands.ofServer)
    ) { (invocation, _) throws(CommandError) in
        var arguments = ["--init-cluster"]
        for option in ["config", "data-directory"] {
            if let value = invocation.value(option) { arguments += ["--\(option)", value] }
        }
        let error = ProgramReplacement.execute(neighbor: "posthornd", arguments)
        throw .badFile(
            path: "posthornd", problem: "cannot run the program: \(error.description)",
            remedy:
                "Install the server on this machine, and run 'posthornd --init-cluster' if it is in another directory.")
    }

    /// The time that commands wait by default until all nodes have read a change, in seconds.
    private static let readingSeconds: Int64 = 60

    private static let timeout = Option("timeout", short: "t", value: "TIME", "The maximum time to wait. Default: 1m.")

    static let rotateTokenKey = CommandNode(
        Command(
            "rotate-token-key", "Use a new key for new device tokens.",
            discussion: """
                The command makes the key, and waits until all nodes that run can decrypt device tokens with it. Only \
                then do the nodes use it for new device tokens. Earlier device tokens stay valid. If the command is \
                interrupted, the nodes continue. If you repeat it, it waits for the same key.
                """,
            options: [timeout])
    ) { (invocation, context) throws(CommandError) in
        let (admin, seconds) = (context.admin(invocation), try seconds(invocation))
        let first = try change(.rotateTokenKey, admin)
        let keys = try wait(seconds, admin, from: first) { !$0.isTokenKeyWaiting && $0.behind.isEmpty }
        guard !keys.isTokenKeyWaiting else { throw unread(keys, seconds, "The new key is not used yet") }
        return Report(
            """
            The nodes use a new key for new device tokens. They can decrypt the tokens of \(keys.tokenKeyCount) keys.
            """, json: keys)
    }

    static let rotateClusterKey = CommandNode(
        Command(
            "rotate-cluster-key", "Replace cluster.key, in two steps.",
            discussion: """
                The first step makes cluster.key.next beside cluster.key on this node. Copy this file to the same \
                place on each other node. The second step, with --complete, encrypts all secrets in PostgreSQL with \
                the new key. It is refused while a node that runs does not have the file. Then each node renames its \
                cluster.key.next to cluster.key, and keeps the earlier key as cluster.key.previous. Older backups of \
                PostgreSQL need the earlier key.

                Nothing is lost if a node or the command ends between the steps: a node starts with either key. A node \
                that is stopped needs the file before it starts again. Between the steps, the command without options \
                shows which nodes lack the file.
                """,
            options: [
                Option("complete", "Encrypt the secrets with the new key."),
                Option("cancel", "Discard the new key before it is used."), timeout,
            ],
            examples: [
                Explanation("posthorn cluster rotate-cluster-key", "Make a new key, or show which nodes lack it."),
                Explanation("posthorn cluster rotate-cluster-key --complete", "Use it, once all nodes have it."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let (admin, seconds) = (context.admin(invocation), try seconds(invocation))
        guard !(invocation.has("complete") && invocation.has("cancel")) else {
            throw .usage(invocation.error(.contradiction("--complete and --cancel exclude each other")))
        }
        if invocation.has("cancel") {
            let keys = try change(.cancelClusterKey, admin)
            return Report("The key of the cluster stays as it is. Delete all copies of cluster.key.next.", json: keys)
        }
        guard invocation.has("complete") else { return progress(of: try change(.rotateClusterKey, admin)) }
        let first = try change(.completeClusterKey, admin)
        let keys = try wait(seconds, admin, from: first) { $0.behind.isEmpty }
        guard keys.behind.isEmpty else { throw unread(keys, seconds, "The secrets have the new key") }
        return Report(completion(of: keys), json: keys)
    }

    private static func seconds(_ invocation: Invocation) throws(CommandError) -> Int64 {
        try waitingSeconds(invocation, default: readingSeconds)
    }

    private static func change(
        _ action: ClusterAPI.KeyChange.Action, _ admin: AdminClient
    ) throws(CommandError) -> ClusterAPI.Keys {
        try admin.send(.post(["cluster", "keys"], ClusterAPI.KeyChange(action: action)), for: ClusterAPI.Keys.self)
    }

    /// Asks the node repeatedly until a condition is true or the time is over; returns the last answer.
    private static func wait(
        _ seconds: Int64, _ admin: AdminClient, from first: ClusterAPI.Keys, until isDone: (ClusterAPI.Keys) -> Bool
    ) throws(CommandError) -> ClusterAPI.Keys {
        var keys = first
        for _ in 0..<seconds * 4 where !isDone(keys) {
            usleep(250_000)
            keys = try admin.send(.get("cluster", "keys"), for: ClusterAPI.Keys.self)
        }
        return keys
    }

    private static func unread(_ keys: ClusterAPI.Keys, _ seconds: Int64, _ state: String) -> CommandError {
        let names = keys.behind.map { oneLine($0) }.joined(separator: ", ")
        return .unfinished(
            "after \(TimeSpan.text(seconds: seconds)), these nodes have not read the new key: \(names)",
            remedy: "\(state). Look at the logs of these nodes, then repeat the command.")
    }

    /// Describes the progress of a rotation of the cluster's key.
    static func progress(of keys: ClusterAPI.Keys) -> Report {
        let next = oneLine(keys.nextKeyFile)
        guard !keys.withoutNextKey.isEmpty else {
            return Report(
                """
                All nodes have the new key. Use it with:
                posthorn cluster rotate-cluster-key --complete
                """, json: keys)
        }
        let nodes = keys.withoutNextKey.map { oneLine($0.name) + ($0.isLive ? "" : " (not live)") }
        return Report(
            """
            The new key is in \(next). Copy this file beside cluster.key on each node that does not have it yet, with mode \
            0600 and the same owner: \(nodes.joined(separator: ", ")). A node finds it within a second.
            Then use it with:
            posthorn cluster rotate-cluster-key --complete
            """, json: keys)
    }

    /// Describes a rotation of the cluster's key that is complete.
    private static func completion(of keys: ClusterAPI.Keys) -> String {
        """
        All secrets are encrypted with the new key. The key is in \(oneLine(keys.keyFile)) on this node, and in \
        cluster.key on each other node that runs. Keep a copy in a safe place. A node that did not run needs the file \
        before it starts.
        The earlier key is in cluster.key.previous. Older backups of PostgreSQL need it.
        """
    }

    /// Waits a short time until all nodes use the authority that followed a removal.
    static func waitForAuthority(_ admin: AdminClient) {
        guard let keys = try? admin.send(.get("cluster", "keys"), for: ClusterAPI.Keys.self) else { return }
        _ = try? wait(removalSeconds, admin, from: keys) { $0.behind.isEmpty }
    }

    /// The time that `cluster remove` waits for other nodes, in seconds.
    private static let removalSeconds: Int64 = 10
}
