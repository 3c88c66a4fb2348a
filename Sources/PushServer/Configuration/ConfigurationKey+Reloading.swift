// SPDX-License-Identifier: Apache-2.0

extension ConfigurationKey {
    /// Whether a change takes effect only after a restart.
    ///
    /// Most of these settings name what the server opens or reserves at start.
    package var needsRestart: Bool {
        switch self {
        case .dataDirectory, .listen, .developmentListen, .channelListen, .developmentChannelListen, .names,
            .proxyProtocolFrom, .adminSocket, .metricsListen, .loops, .connections, .connectionsPerAddress,
            .connectionsBeforeAuthentication, .memoryBudgetMegabytes, .durability, .storeURL, .acceptPatience, .node,
            .linkAddress, .clusterKeyFile, .shards, .trace:
            true
        case .developmentNames, .certificateFile, .privateKeyFile, .secondsBeforeAuthentication,
            .channelsOnProviderPorts, .clientAuthorityFiles, .providerTokenUpdates, .streamsBeforeAuthentication,
            .openEnrolment, .pendingPerTopic, .pendingPerDevice, .gatherSeconds, .tokenLifeDays, .teamRate, .keyRate,
            .topicRate, .deviceRate, .teamDaily, .keyDaily, .topicDaily, .teamBadTokens, .strangerRequests,
            .strangerCredentials, .strangerEnrolments, .deviceRequests, .deviceAcks, .deviceStreams, .traceDays,
            .traceMegabytes, .webhookAuthorityFile, .logLevel:
            false
        }
    }
}

extension ServerConfiguration {
    /// The settings of a newly read configuration that a running server can use, and those that wait for a restart.
    struct Reload {
        /// The new configuration, with the running server's values of the settings that need a restart.
        var configuration: ServerConfiguration
        /// The changed settings that take effect now.
        var applied: [ConfigurationKey]
        /// The changed settings that need a restart.
        var waiting: [ConfigurationKey]
    }

    /// Compares a newly read configuration with this one, with which the server runs.
    func reload(_ new: ServerConfiguration) -> Reload {
        let changed = ConfigurationKey.allCases.filter { new.texts[$0] != texts[$0] }
        // A change between the server's own CA and another one changes what devices trust. It needs a restart.
        let changesKind = (certificateFile == nil) != (new.certificateFile == nil)
        let waiting = changed.filter { key in
            key.needsRestart || (changesKind && (key == .certificateFile || key == .privateKeyFile))
        }
        var configuration = new
        configuration.keep(waiting, of: self)
        configuration.read = read
        return Reload(
            configuration: configuration, applied: changed.filter { !waiting.contains($0) }, waiting: waiting)
    }

    /// Restores the values of settings from the configuration with which the server runs.
    private mutating func keep(_ keys: [ConfigurationKey], of running: ServerConfiguration) {
        for key in keys {
            texts[key] = running.texts[key]
            switch key {
            // The default admin socket is in the data directory.
            case .dataDirectory: (dataDirectory, adminSocket) = (running.dataDirectory, running.adminSocket)
            case .listen: listen = running.listen
            case .developmentListen: developmentListen = running.developmentListen
            case .channelListen: channelListen = running.channelListen
            case .developmentChannelListen: developmentChannelListen = running.developmentChannelListen
            case .names: names = running.names
            case .proxyProtocolFrom: proxies = running.proxies
            case .adminSocket: adminSocket = running.adminSocket
            case .metricsListen: metricsListen = running.metricsListen
            case .loops: loopCount = running.loopCount
            case .connections: connectionCountMax = running.connectionCountMax
            case .connectionsPerAddress: connectionsPerAddressCountMax = running.connectionsPerAddressCountMax
            case .connectionsBeforeAuthentication:
                unauthenticatedConnectionCountMax = running.unauthenticatedConnectionCountMax
            case .memoryBudgetMegabytes: memoryBudgetByteCount = running.memoryBudgetByteCount
            case .durability: durability = running.durability
            case .storeURL: storeAddress = running.storeAddress
            case .acceptPatience: acceptPatienceSeconds = running.acceptPatienceSeconds
            case .node: nodeName = running.nodeName
            case .linkAddress: linkAddress = running.linkAddress
            case .clusterKeyFile: clusterKeyFile = running.clusterKeyFile
            case .shards: shardAddresses = running.shardAddresses
            case .trace: hasTrace = running.hasTrace
            case .certificateFile: certificateFile = running.certificateFile
            case .privateKeyFile: privateKeyFile = running.privateKeyFile
            default: preconditionFailure("\(key.rawValue) needs no restart")
            }
        }
    }
}
