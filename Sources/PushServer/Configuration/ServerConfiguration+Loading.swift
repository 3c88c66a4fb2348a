// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushINI
internal import PushNet
internal import PushStore

extension ServerConfiguration {
    /// The configuration file that is read without `--config`.
    static let defaultFile = "/etc/posthorn/posthornd.ini"

    /// Combines defaults, file, environment and options; the later take precedence.
    ///
    /// - Parameters:
    ///   - file: The file of `--config`; nil for the default file, which need not exist.
    ///   - flags: The settings from the command line.
    ///   - environment: The environment variables of the process.
    ///   - isRoot: Whether the process runs as root, which determines the default paths.
    ///   - readsDefaultFile: Whether the default file is read if it exists.
    /// - Throws: All invalid settings, with their places and remedies.
    init(
        file: String?, flags: [(key: ConfigurationKey, value: String)], environment: [String: String], isRoot: Bool,
        readsDefaultFile: Bool = true
    ) throws(ConfigurationError) {
        self.init(dataDirectory: Self.defaultDataDirectory(environment, isRoot: isRoot), adminSocket: "")
        isJournal = environment["JOURNAL_STREAM"] != nil
        var entries: [INIEntry] = []
        let path = file ?? Self.defaultFile
        if file != nil || (readsDefaultFile && PrivateFile.exists(path)) { entries = try Self.entries(of: path) }
        var errors: [ConfigurationError] = []
        for entry in entries {
            do throws(ConfigurationError) { try apply(entry, of: path) } catch { errors.append(error) }
        }
        for key in ConfigurationKey.allCases {
            guard let text = environment[key.variable] else { continue }
            do throws(ConfigurationError) { try key.apply(text, from: "$\(key.variable)", to: &self) } catch {
                errors.append(error)
            }
        }
        for (key, text) in flags {
            do throws(ConfigurationError) { try key.apply(text, from: "--\(key.flag)", to: &self) } catch {
                errors.append(error)
            }
        }
        if var first = errors.first {
            first.others = Array(errors.dropFirst())
            throw first
        }
        try settle(environment)
    }

    private mutating func apply(_ entry: INIEntry, of path: String) throws(ConfigurationError) {
        let place = "\(path):\(entry.line)"
        guard let key = ConfigurationKey(rawValue: entry.name) else {
            throw Self.unknownSetting(entry, place: place)
        }
        guard key.section == entry.section else {
            throw ConfigurationError(
                place: place, problem: "'\(entry.name)' does not belong to section [\(entry.section)].",
                remedy: "Move the line to section [\(key.section)].")
        }
        try key.apply(entry.value, from: place, to: &self)
    }

    private static func unknownSetting(_ entry: INIEntry, place: String) -> ConfigurationError {
        let names = ConfigurationKey.allCases.map(\.rawValue)
        let meant = Spelling.closest(to: entry.name, among: names).flatMap(ConfigurationKey.init)
        let known = ConfigurationKey.allCases.filter { $0.section == entry.section }.map(\.rawValue)
        let others = known.isEmpty ? "" : ", or use one of: \(known.joined(separator: ", "))"
        let section = entry.section.isEmpty ? "before the first section" : "in section [\(entry.section)]"
        return ConfigurationError(
            place: place, problem: "unknown setting '\(entry.name)' \(section).",
            remedy: meant.map { "Did you mean '\($0.rawValue)' in section [\($0.section)]?" }
                ?? "Remove the line\(others).")
    }

    private static func entries(of path: String) throws(ConfigurationError) -> [INIEntry] {
        do throws(INIError) {
            return try INIFile.read(path: path)
        } catch {
            switch error {
            case .cannotRead(let path, let code):
                throw ConfigurationError(
                    place: path, problem: "cannot read the configuration file: \(SystemError.text(code)).",
                    remedy: "Check the path and its permissions.")
            case .syntax(let path, let line):
                throw ConfigurationError(
                    place: "\(path):\(line)", problem: "syntax error: neither [section] nor name = value.",
                    remedy: "Correct the line, or comment it out with #.")
            case .tooLong(let path, let line, let byteCountMax):
                throw ConfigurationError(
                    place: "\(path):\(line)", problem: "the line is longer than \(byteCountMax) bytes.",
                    remedy: "Shorten it.")
            }
        }
    }

    /// Fills in settings that depend on others, and checks the combination of settings.
    private mutating func settle(_ environment: [String: String]) throws(ConfigurationError) {
        if adminSocket.isEmpty {
            adminSocket = (environment["RUNTIME_DIRECTORY"] ?? dataDirectory) + "/admin.sock"
        }
        guard (certificateFile == nil) == (privateKeyFile == nil) else {
            throw ConfigurationError(
                place: certificateFile == nil ? "certificate_file" : "private_key_file",
                problem: "only one of certificate_file and private_key_file is set.",
                remedy: "Set both, or neither to use a certificate of the server's own CA.")
        }
        if let all = pendingPerDeviceCountMax, all < pendingPerTopicCountMax {
            throw ConfigurationError(
                place: "pending_per_device",
                problem: "\(all) is less than pending_per_topic (\(pendingPerTopicCountMax)).",
                remedy: "Raise pending_per_device, or lower pending_per_topic.")
        }
        guard storeAddress == nil || durability == .full else {
            throw ConfigurationError(
                place: "durability",
                problem: "\(durability.rawValue) is not available with PostgreSQL, which url names.",
                remedy: "Set durability to full, or remove url.")
        }
        guard storeAddress != nil || shardAddresses.isEmpty else {
            throw ConfigurationError(
                place: "shards", problem: "there are addresses of further databases, but none of the first.",
                remedy: "Set url in [store], or remove shards.")
        }
        let databases = [storeAddress].compactMap(\.self) + shardAddresses
        if let shard = databases.indices.first(where: { databases[..<$0].contains(databases[$0]) }) {
            throw ConfigurationError(
                place: "shards", problem: "\(databases[shard]) is the address of two databases.",
                remedy: "Give each shard a database of its own.")
        }
        try checkMemoryBudget()
        var seen: Set<ListenAddress> = []
        let addresses = ports.map(\.address) + (metricsListen.map { [$0] } ?? [])
        if let twice = addresses.first(where: { $0.port != 0 && !seen.insert($0).inserted }) {
            throw ConfigurationError(
                place: "listen", problem: "\(twice.host):\(twice.port) is listed twice.",
                remedy: "Use each address in only one of the listen settings.")
        }
        guard adminSocket.utf8.count <= Sockets.pathByteCountMax else {
            throw ConfigurationError(
                place: "admin_socket",
                problem:
                    "\(adminSocket) is longer than \(Sockets.pathByteCountMax) bytes, the maximum for a UNIX socket.",
                remedy: "Set admin_socket to a shorter path.")
        }
    }

    /// Refuses a memory budget in which the unauthenticated connections of a loop could not hold one TLS handshake.
    private func checkMemoryBudget() throws(ConfigurationError) {
        let loopCount = loopCount ?? ProcessFacts.processorCount
        let byteCountMin = loopCount * Limits.memorySharesCount * Limits.strangerByteCount
        guard let budget = memoryBudgetByteCount, budget < byteCountMin else { return }
        let megabyteCountMin = (byteCountMin + (1 << 20) - 1) >> 20
        throw ConfigurationError(
            place: "memory_budget_megabytes", problem: "\(budget >> 20) is too little for \(loopCount) loops.",
            remedy: "Set memory_budget_megabytes to at least \(megabyteCountMin), or lower loops.")
    }

    private static func defaultDataDirectory(_ environment: [String: String], isRoot: Bool) -> String {
        if let state = environment["STATE_DIRECTORY"], state.hasPrefix("/") { return state }
        if isRoot { return "/var/lib/posthorn" }
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/posthorn/server" }
        return (environment["HOME"] ?? "/") + "/.local/share/posthorn/server"
    }
}

extension ServerConfiguration {
    /// Changes the configuration to that of a server for a test run.
    ///
    /// - Parameters:
    ///   - topics: The topics to create; an example if empty.
    ///   - port: The port; 0 for a free one.
    ///   - isFull: Whether to create everything that a test of the whole provider API needs.
    ///   - environmentFile: The file that receives all values as shell variables.
    ///   - flags: The settings from the command line. Those that `--ephemeral` determines are refused.
    ///   - parentDirectory: The parent of the temporary directory: `$TMPDIR`, or nil for `/tmp`.
    /// - Throws: A setting that cannot be combined with `--ephemeral`, or an invalid topic.
    mutating func makeEphemeral(
        topics: [TopicName], port: UInt16, isFull: Bool, environmentFile: String?,
        flags: [(key: ConfigurationKey, value: String)], parentDirectory: String?
    ) throws(ConfigurationError) {
        let decided: [ConfigurationKey] = [
            .dataDirectory, .listen, .developmentListen, .channelListen, .developmentChannelListen, .adminSocket,
            .names,
        ]
        if let flag = flags.first(where: { decided.contains($0.key) }) {
            throw ConfigurationError(
                place: "--\(flag.key.flag)", problem: "cannot be combined with --ephemeral.",
                remedy: "Remove one of the two options.")
        }
        if let bad = topics.first(where: { !$0.isValid }) {
            throw ConfigurationError(
                place: "--topic", problem: "invalid topic '\(bad)'.",
                remedy: "Use letters, digits, dots, hyphens and underscores, for example com.example.MyApp.")
        }
        var unique: [TopicName] = []
        for topic in topics where !unique.contains(topic) { unique.append(topic) }
        let parent = parentDirectory.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        let socketByteCount = "\(parent)/posthornd-XXXXXX/admin.sock".utf8.count
        guard socketByteCount <= Sockets.pathByteCountMax else {
            throw ConfigurationError(
                place: "$TMPDIR", problem: "the path \(parent) is too long for an admin socket in it.",
                remedy: "Set TMPDIR to a shorter path.")
        }
        ephemeral = Ephemeral(
            topics: unique.isEmpty ? ["com.example.MyApp"] : unique, parentDirectory: parent, isFull: isFull,
            environmentFile: environmentFile)
        listen = [ListenAddress(host: "127.0.0.1", port: port)]
        // For clients with a fixed host name that name resolution or a connection option directs to this server.
        names = ["127.0.0.1", "localhost", "::1"] + Self.applesNames
        guard isFull else { return settleEphemeral() }
        let another = ListenAddress(host: "127.0.0.1", port: 0)
        listen.append(another)
        (developmentListen, channelListen, developmentChannelListen) = ([another], [another], [another])
        settleEphemeral()
    }

    private static let applesNames = [
        "api.push.apple.com", "api.sandbox.push.apple.com", "api.development.push.apple.com",
        "api-broadcast.push.apple.com", "api-broadcast.sandbox.push.apple.com",
        "api-manage-broadcast.push.apple.com", "api-manage-broadcast.sandbox.push.apple.com",
    ]

    private mutating func settleEphemeral() {
        // A test needs every notification, however fast it sends.
        pendingPerTopicCountMax = Limits.ephemeralNotificationCountMax
        pendingPerDeviceCountMax = Limits.ephemeralNotificationCountMax
        if quotas.deviceRate == QuotaDefaults().deviceRate { quotas.deviceRate = 0 }
        quotas.defaultBadTokensPerTeam = nil
        let standard = PrincipalLimits()
        if principalLimits.strangerEnrolments == standard.strangerEnrolments {
            principalLimits.strangerEnrolments = .init(0)
        }
    }
}
