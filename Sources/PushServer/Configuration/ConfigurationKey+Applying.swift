// SPDX-License-Identifier: Apache-2.0

internal import PushCluster
internal import PushCore
internal import PushNet
internal import PushPostgres
internal import PushStore
internal import PushTLS

extension ConfigurationKey {
    /// Applies a value to the configuration.
    ///
    /// - Parameters:
    ///   - text: The value as written.
    ///   - place: The place where the value was written, for the error.
    ///   - configuration: The configuration to change.
    /// - Throws: The problem with the value, and a valid alternative.
    func apply(_ text: String, from place: String, to configuration: inout ServerConfiguration)
        throws(ConfigurationError)
    {
        let value = Value(key: self, text: text, place: place)
        configuration.texts[self] = text
        switch self {
        case .dataDirectory:
            guard text.hasPrefix("/") else {
                throw value.refusal("Use an absolute path, for example /var/lib/posthorn.")
            }
            configuration.dataDirectory = text
        case .listen: configuration.listen = try value.addresses()
        case .developmentListen: configuration.developmentListen = try value.addresses()
        case .channelListen: configuration.channelListen = try value.addresses()
        case .developmentChannelListen: configuration.developmentChannelListen = try value.addresses()
        case .names: configuration.names = try value.certificateNames()
        case .developmentNames: configuration.developmentNames = value.words.map { $0.lowercased() }
        case .certificateFile: configuration.certificateFile = text
        case .privateKeyFile: configuration.privateKeyFile = text
        case .clientAuthorityFiles: configuration.clientAuthorityFiles = value.words
        case .proxyProtocolFrom: configuration.proxies = try value.ranges()
        case .adminSocket: configuration.adminSocket = text
        case .metricsListen: configuration.metricsListen = try value.address()
        case .loops: configuration.loopCount = try value.number(1...256)
        case .connections: configuration.connectionCountMax = try value.number(1...10_000_000)
        case .connectionsPerAddress: configuration.connectionsPerAddressCountMax = try value.number(1...10_000_000)
        case .connectionsBeforeAuthentication:
            configuration.unauthenticatedConnectionCountMax = try value.number(1...10_000_000)
        case .secondsBeforeAuthentication:
            configuration.authenticationTimeout = .seconds(try value.number(1...3600))
        case .memoryBudgetMegabytes:
            configuration.memoryBudgetByteCount = try value.number(16...1_000_000) << 20
        case .channelsOnProviderPorts: configuration.managesChannelsOnProviderPorts = try value.boolean()
        case .providerTokenUpdates: configuration.providerTokenUpdateCountMax = try value.number(1...1000)
        case .streamsBeforeAuthentication:
            configuration.unauthenticatedStreamCountMax = try value.number(1...Limits.concurrentStreamCountMax)
        case .openEnrolment: configuration.hasOpenEnrolment = try value.boolean()
        case .pendingPerTopic: configuration.pendingPerTopicCountMax = try value.number(1...1_000_000)
        case .pendingPerDevice: configuration.pendingPerDeviceCountMax = try value.number(1...10_000_000)
        case .gatherSeconds: configuration.powerSavingDelaySeconds = Int64(try value.number(0...3600))
        case .durability, .storeURL, .acceptPatience, .node, .linkAddress, .clusterKeyFile, .shards:
            try applyStorage(value, to: &configuration)
        case .tokenLifeDays:
            let days = try value.number(0...36_500)
            configuration.tokenLifeSeconds = days == 0 ? nil : Int64(days) * Self.secondsPerDay
        case .teamRate: (configuration.quotas.team.rate, configuration.quotas.team.burst) = try value.rate()
        case .keyRate: (configuration.quotas.key.rate, configuration.quotas.key.burst) = try value.rate()
        case .topicRate: (configuration.quotas.topic.rate, configuration.quotas.topic.burst) = try value.rate()
        case .deviceRate: (configuration.quotas.deviceRate, configuration.quotas.deviceBurst) = try value.rate()
        case .teamDaily: configuration.quotas.team.daily = try value.count()
        case .keyDaily: configuration.quotas.key.daily = try value.count()
        case .topicDaily: configuration.quotas.topic.daily = try value.count()
        case .teamBadTokens:
            configuration.quotas.team.badTokens = try value.count()
            configuration.quotas.defaultBadTokensPerTeam = nil
        case .strangerRequests: configuration.principalLimits.strangerRequests = .init(try value.rate())
        case .strangerCredentials: configuration.principalLimits.strangerCredentials = .init(try value.rate())
        case .strangerEnrolments: configuration.principalLimits.strangerEnrolments = .init(try value.rate())
        case .deviceRequests: configuration.principalLimits.deviceRequests = .init(try value.rate())
        case .deviceAcks: configuration.principalLimits.deviceAcknowledgements = .init(try value.rate())
        case .deviceStreams: configuration.principalLimits.deviceStreams = .init(try value.rate())
        case .trace: configuration.hasTrace = try value.boolean()
        case .traceDays: configuration.traceLifeSeconds = Int64(try value.number(1...36_500)) * Self.secondsPerDay
        case .traceMegabytes: configuration.traceByteCountMax = Int64(try value.number(1...1_000_000)) << 20
        case .webhookAuthorityFile: configuration.webhookAuthorityFile = text
        case .logLevel: configuration.logLevel = try value.level()
        }
    }

    /// Applies a value of the store or of the cluster.
    private func applyStorage(
        _ value: Value, to configuration: inout ServerConfiguration
    ) throws(ConfigurationError) {
        switch self {
        case .durability: configuration.durability = try value.durability()
        case .storeURL: configuration.storeAddress = value.text.isEmpty ? nil : try value.postgresAddress()
        case .acceptPatience: configuration.acceptPatienceSeconds = Int64(try value.number(1...60))
        case .node: configuration.nodeName = try value.nodeName()
        case .linkAddress: configuration.linkAddress = value.text.isEmpty ? nil : try value.linkAddress()
        case .clusterKeyFile: configuration.clusterKeyFile = value.text
        case .shards: configuration.shardAddresses = try value.postgresAddresses()
        default: preconditionFailure("\(rawValue) is not a setting of the store")
        }
    }
}

extension PrincipalLimits.Rate {
    fileprivate init(_ value: (rate: Int64?, burst: Int64?)) { self.init(value.rate ?? 0, burst: value.burst) }
}

/// A value as it was written, and its place.
private struct Value {
    let key: ConfigurationKey
    let text: String
    let place: String

    /// The parts between spaces.
    var words: [String] { text.split(separator: " ").map(String.init) }

    func refusal(_ remedy: String) -> ConfigurationError {
        ConfigurationError(place: place, problem: "invalid value '\(text)' for \(key.rawValue).", remedy: remedy)
    }

    func addresses() throws(ConfigurationError) -> [ListenAddress] {
        let addresses = words.compactMap { ListenAddress($0) }
        guard !addresses.isEmpty, addresses.count == words.count, addresses.count <= Limits.listenAddressCountMax else {
            throw refusal(
                "Use HOST:PORT, for example *:2197, 127.0.0.1:2197 or [::1]:2197. Separate several with spaces.")
        }
        return addresses
    }

    func address() throws(ConfigurationError) -> ListenAddress {
        guard let address = ListenAddress(text) else {
            throw refusal("Use one HOST:PORT, for example 127.0.0.1:9464 or [::1]:9464.")
        }
        return address
    }

    func ranges() throws(ConfigurationError) -> [AddressRange] {
        let ranges = words.compactMap { AddressRange($0) }
        guard ranges.count == words.count else {
            throw refusal("Use addresses or networks, for example 127.0.0.1, ::1 or 10.0.0.0/8.")
        }
        return ranges
    }

    func certificateNames() throws(ConfigurationError) -> [String] {
        guard let bad = words.first(where: { !CertificateAuthority.isServerName($0) }) else { return words }
        throw ConfigurationError(
            place: place, problem: "invalid value '\(bad)' for \(key.rawValue): not a DNS name or an IP address.",
            remedy: "Use for example push.example.org, *.example.org, 192.0.2.1 or ::1. Separate several with spaces.")
    }

    /// Parses the address of PostgreSQL; the error does not contain it, because it may contain a password.
    func postgresAddress() throws(ConfigurationError) -> PostgresAddress { try postgresAddress(text) }

    func postgresAddresses() throws(ConfigurationError) -> [PostgresAddress] {
        guard words.count < Limits.shardCountMax else {
            throw refusal("Use at most \(Limits.shardCountMax - 1) addresses.")
        }
        var addresses: [PostgresAddress] = []
        for word in words { addresses.append(try postgresAddress(word)) }
        return addresses
    }

    private func postgresAddress(_ text: String) throws(ConfigurationError) -> PostgresAddress {
        do throws(PostgresAddressError) {
            return try PostgresAddress(text)
        } catch {
            let remedy = "\(error)"
            throw ConfigurationError(
                place: place, problem: "invalid value for \(key.rawValue).",
                remedy: remedy.prefix(1).uppercased() + remedy.dropFirst())
        }
    }

    func linkAddress() throws(ConfigurationError) -> LinkedNode.Address {
        guard let address = LinkedNode.Address(text) else {
            throw refusal("Use HOST:PORT, for example n1.example.org:2197 or [2001:db8::1]:2197.")
        }
        guard !["*", "0.0.0.0", "::"].contains(address.host) else {
            throw refusal("Use a name or an address of this machine that the other nodes can reach.")
        }
        return address
    }

    func nodeName() throws(ConfigurationError) -> String {
        guard (1...Limits.displayNameByteCountMax).contains(text.utf8.count) else {
            throw refusal("Use a name with at most \(Limits.displayNameByteCountMax) bytes.")
        }
        return text
    }

    func number(_ range: ClosedRange<Int>) throws(ConfigurationError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw refusal("Use a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Parses a rate and the optional burst after its slash.
    func rate() throws(ConfigurationError) -> (rate: Int64?, burst: Int64?) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int64($0) }
        guard numbers.count == parts.count, let rate = numbers.first, (0...Limits.quotaRateMax).contains(rate),
            numbers.dropFirst().allSatisfy({ (1...Limits.quotaRateMax).contains($0) })
        else {
            throw refusal(
                "Use a rate per second with an optional burst, for example 100 or 100/1000; at most "
                    + "\(Limits.quotaRateMax).")
        }
        return (rate, numbers.count > 1 ? numbers[1] : nil)
    }

    /// Parses a count, where 0 means no limit.
    func count() throws(ConfigurationError) -> Int64 { Int64(try number(0...Int(Limits.quotaCountMax))) }

    func boolean() throws(ConfigurationError) -> Bool {
        switch text.lowercased() {
        case "yes", "true", "on", "1": true
        case "no", "false", "off", "0": false
        default: throw refusal("Choose \(key.placeholder.split(separator: "|").joined(separator: " or ")).")
        }
    }

    func durability() throws(ConfigurationError) -> StoreDurability {
        guard let durability = StoreDurability(rawValue: text) else {
            throw refusal("Choose full, normal or relaxed.")
        }
        return durability
    }

    func level() throws(ConfigurationError) -> EventLog.Level {
        guard let level = EventLog.Level.allCases.first(where: { $0.word == text }) else {
            throw refusal("Choose error, warning, info or debug.")
        }
        return level
    }
}
