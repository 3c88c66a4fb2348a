// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import LinuxDesktop
internal import PushAPI
internal import PushCore
internal import PushSQL
internal import PushNet

/// The registrations of apps, and their device tokens.
package final class RegistrationService {
    /// The origin of a registration request, which decides how far it is trusted.
    enum Registrant: Sendable, Equatable {
        /// A program that acts for the user, such as the command line or the panel.
        case tool
        /// The app itself.
        case app(isSandboxed: Bool)
    }

    /// Called after the inbox entries of an app have been removed with it.
    var onForgotten: (() -> Void)?
    private let database: AgentDatabase
    private let environment: AgentEnvironment
    private let link: ServerLink
    private let presentations: PresentationQueue
    private let badges: BadgeService
    private let changes: ChangeNotifier
    private let failures: DatabaseFailures
    private let subscriptions: SubscriptionService

    init(_ context: AgentContext, _ subscriptions: SubscriptionService) {
        database = context.database
        environment = context.environment
        link = context.link
        presentations = context.presentations
        badges = context.badges
        changes = context.changes
        failures = context.failures
        self.subscriptions = subscriptions
    }

    /// Registers an app.
    ///
    /// - Parameters:
    ///   - appID: The name of the .desktop file without `.desktop`.
    ///   - topic: The topic that providers send to. Default: the manifest's topic, then the app ID.
    ///   - name: The top line of the app's alerts. Default: the name of the .desktop file, then the manifest's. An app
    ///     can name itself only if it has no .desktop file, and its name is unverified then.
    ///   - environment: The environment of the device token. Another environment than before means a new token.
    ///   - manifest: The manifest as JSON. Default: the app's installed file in the XDG data directories.
    ///   - asker: The origin of the request. An app may neither name a filter program nor claim a foreign topic.
    /// - Returns: The device token.
    /// - Throws: The refusal of this agent or of the server.
    func register(
        appID: AppID, topic: TopicName?, name: String?, environment: Environment = .production,
        manifest: [UInt8]? = nil, asker: Registrant = .tool
    ) async throws(AgentRefusal) -> String {
        let installed = self.environment.manifest(appID)
        let manifestText = manifest ?? installed ?? []
        let facts = try Self.manifest(manifestText)
        let title = try self.name(of: appID, given: name, facts, installed: installed, asker)
        var app = try describe(appID: appID, topic: topic ?? facts.topic ?? TopicName(appID.text), title)
        app.manifestText = manifestText
        if case .app(let isSandboxed) = asker {
            if manifest != nil { try Self.checkFilter(facts) }
            if manifest != nil, isSandboxed { try Self.checkPictures(facts) }
            try Self.checkTopic(app, installed: installed)
        }
        try checkCount(with: appID)
        guard let clients = link.clients else { throw .notEnrolled }
        app.environment = environment
        let registrar = clients.registrar
        let wasRegistering = registrar.isRegistering(appID)
        // Two requests may overlap: the order in which the server sees them is unknown, so compare again.
        defer { if wasRegistering || registrar.isRegistering(appID) { registrar.check(appID) } }
        let registration: DeviceAPI.Registration
        do throws(ServerFailure) {
            defer { noteRegistration(of: appID) }
            registration = try await clients.session.client.register(topic: app.topic, environment: environment)
        } catch {
            throw AgentRefusal(error, topic: app.topic)
        }
        return try adopt(registration, for: app)
    }

    /// Unregisters an app and removes its badge, settings, alerts and inbox entries.
    func unregister(appID: AppID) async throws(AgentRefusal) {
        let found = try failures.refusing { () throws(SQLError) in try database.apps.app(id: appID) }
        guard let app = found else { throw .unknownApp(appID) }
        if let session = link.clients?.session {
            do throws(ServerFailure) {
                try await session.client.unregister(topic: app.topic)
            } catch .refused(status: 404, _, _, _) {
                // The server no longer has this registration, or no longer knows the topic.
            } catch {
                throw AgentRefusal(error)
            }
        }
        try forget(app)
    }

    /// Returns a registered app; nil if the ID is unknown.
    func app(_ appID: AppID) throws(AgentRefusal) -> RegisteredApp? {
        try failures.refusing { () throws(SQLError) in try database.apps.app(id: appID) }
    }

    /// Returns all registered apps, ordered by app ID.
    func apps() throws(AgentRefusal) -> [RegisteredApp] {
        try failures.refusing { () throws(SQLError) in try database.apps.all() }
    }

    /// The name of an app and whether the app cannot have invented it.
    private struct AppTitle {
        var name: String
        var isVerified = true
    }

    /// Returns the name to show for an app: the user's, that of the .desktop file, that of the installed manifest, the
    /// earlier verified one, or else the app's own.
    private func name(
        of appID: AppID, given: String?, _ facts: AppManifest, installed: [UInt8]?, _ asker: Registrant
    ) throws(AgentRefusal) -> AppTitle {
        if asker == .tool, let given { return AppTitle(name: given) }
        if let description = environment.describeApp(appID) { return AppTitle(name: description.name) }
        if asker == .tool, let name = facts.name { return AppTitle(name: name) }
        if asker == .tool {
            let earlier = try app(appID)
            return earlier.map { AppTitle(name: $0.name, isVerified: $0.isVerified) } ?? AppTitle(name: appID.text)
        }
        if let name = try? installed.flatMap(Self.manifest)?.name { return AppTitle(name: name) }
        if let earlier = try app(appID), earlier.isVerified { return AppTitle(name: earlier.name) }
        return AppTitle(name: given ?? facts.name ?? appID.text, isVerified: false)
    }

    /// The maximum number of registered apps.
    static let appCountMax = 1000

    /// Refuses an app that would be one too many.
    private func checkCount(with appID: AppID) throws(AgentRefusal) {
        guard try app(appID) == nil, try apps().count >= Self.appCountMax else { return }
        throw AgentRefusal(
            .tooMany, "The maximum of \(Self.appCountMax) apps is reached. Unregister apps that you no longer use.")
    }

    /// Validates the values of a registration, because they come from the bus.
    private func describe(appID: AppID, topic: TopicName, _ title: AppTitle) throws(AgentRefusal) -> RegisteredApp {
        guard DesktopEntry.isValidID(appID.text) else {
            throw AgentRefusal(
                .badAppID,
                "Invalid app ID: use the name of a .desktop file without '.desktop' (letters, digits, '.', '_', '-').")
        }
        guard topic.isValid else {
            throw AgentRefusal(.badTopic, "Invalid topic: use 1 to 255 letters, digits, '.', '_' and '-'.")
        }
        let owner = try failures.refusing { () throws(SQLError) in try database.apps.app(topic: topic) }
        if let owner, owner.appID != appID {
            throw AgentRefusal(.badTopic, "Topic '\(topic)' belongs to app '\(owner.appID)' on this device.")
        }
        var app = RegisteredApp(
            appID: appID, topic: topic, name: Self.shown(title.name, appID),
            icon: environment.describeApp(appID)?.icon, deviceToken: "")
        app.isVerified = title.isVerified
        return app
    }

    /// Returns a name as one line without runs of blanks; the app ID if nothing of it is visible.
    private static func shown(_ name: String, _ appID: AppID) -> String {
        let words = DisplayText.plain(name, scalarCountMax: 64).unicodeScalars.split(whereSeparator: isBlank)
        let oneLine = words.map { String($0) }.joined(separator: " ")
        return DisplayText.isBlank(oneLine) ? appID.text : oneLine
    }

    /// Returns whether a scalar takes space without showing anything: white space, the blank Braille pattern, and the
    /// fillers of Hangul.
    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\u{2800}", "\u{115F}", "\u{1160}", "\u{3164}", "\u{FFA0}": true
        default: scalar.properties.isWhitespace
        }
    }

    /// Replaces the name that an app gave itself, after its .desktop file has been installed.
    func verify(_ app: RegisteredApp, name: String, icon: String?) throws(SQLError) {
        guard !app.isVerified else { return }
        try database.apps.verify(app.appID, name: Self.shown(name, app.appID), icon: icon)
        changes.observer?.settingsChanged(appID: app.appID)
        changes.inboxChanged()
    }

    /// Refuses a filter program that the app itself names.
    ///
    /// A filter program runs outside the app's sandbox, so only a caller outside that sandbox may name one.
    ///
    /// - Parameter manifest: The manifest from the app's request.
    /// - Throws: `badManifest` if it names a filter program.
    private static func checkFilter(_ manifest: AppManifest) throws(AgentRefusal) {
        guard case .program = manifest.filter else { return }
        throw AgentRefusal(
            .badManifest, "An app cannot name a program as its filter: only its installed manifest or the user can.")
    }

    /// Refuses hosts of pictures that an app in a sandbox names itself: the agent would fetch addresses for it that the
    /// sandbox may not reach.
    private static func checkPictures(_ manifest: AppManifest) throws(AgentRefusal) {
        guard !manifest.pictureHosts.isEmpty else { return }
        throw AgentRefusal(
            .badManifest,
            "An app in a sandbox cannot name picture_hosts: only its installed manifest or the user can.")
    }

    /// Refuses topics that are not the app's own: the app ID, topics below it, and the installed manifest's topic.
    private static func checkTopic(_ app: RegisteredApp, installed: [UInt8]?) throws(AgentRefusal) {
        let topic = app.topic.text.utf8
        if topic.elementsEqual(app.appID.text.utf8) || topic.starts(with: "\(app.appID).".utf8) { return }
        if let installed, let own = try manifest(installed).topic, own == app.topic { return }
        throw AgentRefusal(
            .badTopic,
            "App '\(app.appID)' cannot claim topic '\(app.topic)': an app may claim only its app ID, topics below "
                + "it, and the topic in its installed manifest.")
    }

    private static func manifest(_ text: [UInt8]) throws(AgentRefusal) -> AppManifest {
        do throws(AppManifestError) {
            return try AppManifest(parsing: text)
        } catch {
            throw AgentRefusal(.badManifest, "Invalid app manifest: \(error.message).")
        }
    }

    private func adopt(
        _ registration: DeviceAPI.Registration, for app: RegisteredApp
    ) throws(AgentRefusal) -> String {
        guard Hex.decode(registration.deviceToken.utf8.span)?.count == 32 else {
            throw AgentRefusal(.unreachable, "The server sent an invalid response: no device token.")
        }
        var app = app
        app.deviceToken = registration.deviceToken
        let earlier = try failures.refusing { () throws(SQLError) in
            try database.transaction { () throws(SQLError) in
                let earlier = try database.apps.app(id: app.appID)
                try database.apps.save(app)
                try database.eventTypes.replaceAll(app.manifest.eventTypes, of: app.appID)
                // The server knows the app by another topic now, or does not know it yet: send the filter again.
                if try database.settings.settings(of: app).refusesAll { try database.state.set(.isFilterDue, to: 1) }
                // Subscriptions belong to a registration, so a new device token needs them again.
                if earlier?.deviceToken.utf8.elementsEqual(app.deviceToken.utf8) != true {
                    try database.subscriptions.requestAgain(app.appID)
                }
                return earlier
            }
        }
        agentLog.info("registered", ["app": app.appID.text, "token": String(app.deviceToken.prefix(8))])
        for line in app.advice { agentLog.warning("advice", ["app": app.appID.text, "text": line]) }
        if let earlier, earlier.topic != app.topic { leave(topic: earlier.topic) }
        if earlier?.deviceToken.utf8.elementsEqual(app.deviceToken.utf8) != true {
            changes.observer?.tokenChanged(appID: app.appID, deviceToken: app.deviceToken)
        }
        let looksTheSame = earlier.map { $0.name == app.name && $0.icon == app.icon && $0.manifest == app.manifest }
        if looksTheSame != true { changes.observer?.settingsChanged(appID: app.appID) }
        link.setNeedsFlush()
        link.clients?.registrar.setNeedsFlush()
        return app.deviceToken
    }

    private func leave(topic: TopicName) {
        guard let session = link.clients?.session else { return }
        link.startTask {
            do throws(ServerFailure) {
                try await session.client.unregister(topic: topic)
            } catch {
                agentLog.warning("topic_not_left", ["topic": topic.text, "error": error.message])
            }
        }
    }

    private func forget(_ app: RegisteredApp) throws(AgentRefusal) {
        let removed = try failures.refusing { () throws(SQLError) in
            try database.transaction { () throws(SQLError) in
                if try database.settings.settings(of: app).refusesAll { try database.state.set(.isFilterDue, to: 1) }
                try database.apps.remove(id: app.appID)
                try database.subscriptions.removeAll(of: app.appID)
                try database.choices.removeAll(appID: app.appID)
                try database.installations.remove(app.appID)
                try database.eventTypes.replaceAll([], of: app.appID)
                return try database.clearInbox(appID: app.appID)
            }
        }
        presentations.withdraw(removed)
        onForgotten?()
        subscriptions.forgetEnded(of: app.appID)
        badges.present(0, appID: app.appID)
        agentLog.info("unregistered", ["app": app.appID.text])
        changes.observer?.settingsChanged(appID: app.appID)
        changes.inboxChanged()
        link.setNeedsFlush()
    }

    /// Resets the record of a missing .desktop file, because an app that registers is installed.
    private func noteRegistration(of appID: AppID) {
        do {
            if environment.describeApp(appID) == nil { return try database.installations.remove(appID) }
            try database.installations.set(appID, goneSince: .unixEpoch)
        } catch {
            failures.report(error)
        }
    }

    // MARK: Comparing with the server

    /// Checks registrations with the server.
    ///
    /// All are checked after a start, after an enrolment and once a day. Those without a device token are checked at
    /// each connection.
    ///
    /// - Parameter now: The wall clock, in whole seconds.
    func check(now: Timestamp) {
        guard let clients = link.clients else { return }
        let isDue = Self.isCheckDue(last: clients.registrar.checkedAt, now: now)
        do {
            for app in try database.apps.all() where isDue || app.deviceToken.isEmpty {
                clients.registrar.check(app.appID)
            }
        } catch {
            return failures.report(error)
        }
        if isDue { clients.registrar.checkedAt = now }
    }

    /// Returns whether the last check is a day old or more; true also when the clock was set back.
    static func isCheckDue(last: Timestamp?, now: Timestamp) -> Bool {
        guard let last else { return true }
        return now < last || now.seconds(since: last) >= 24 * 3600
    }
}

extension RegistrationService: RegistrarDelegate {
    /// Stores the device token that the server reports, if the app's registration has not changed meanwhile.
    func registrar(_ app: RegisteredApp, isRegisteredAs registration: DeviceAPI.Registration) -> Bool {
        let current: RegisteredApp?
        let isTopicUsed: Bool
        do {
            current = try database.apps.app(id: app.appID)
            isTopicUsed = try database.apps.app(topic: app.topic) != nil
        } catch {
            failures.report(error)
            return false
        }
        // The app was unregistered, or registered with other values, while the request was running.
        if !isTopicUsed { leave(topic: app.topic) }
        guard let current, current.topic == app.topic, current.environment == app.environment
        else { return false }
        return (try? adopt(registration, for: current)) != nil
    }

    /// Reports an ended subscription.
    func registrar(endedSubscriptionTo channel: String, of appID: AppID, because error: ServerFailure) {
        subscriptions.subscriptionEnded(channel, of: appID, because: error)
    }

    /// Handles a database failure of the registrar like any other.
    func registrar(failed error: SQLError) { failures.report(error) }
}
