// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushCore
internal import PushNet
internal import PushSQL

/// Gets the pictures of notifications, from a host or from a file, before their alerts are shown.
///
/// ```
/// arrived ──no picture, or not allowed──▶ ready
///    └──▶ fetching or reading, converting ──stored, failed or timed out──▶ ready
/// ```
///
/// An alert never waits longer than `Limits.pictureTimeout`; then it is shown without its picture. After a crash,
/// waiting alerts are shown without pictures.
final class PictureQueue {
    /// The means of getting pictures.
    struct Means {
        var fetcher: PictureFetcher
        var converter: PictureConverter
        var folder: PictureFolder
        /// The maximum time for which an alert waits for its picture.
        var timeout = Limits.pictureTimeout
    }

    /// Called with entries that can be presented.
    var onReady: (([EntryID]) -> Void)?
    /// Called when an entry has got a picture, or a reason for having none.
    var onChange: (() -> Void)?

    private let database: AgentDatabase
    private let loop: EventLoop
    private let means: Means?
    private let texts: (AppID) -> AppTranslation
    private let failures: DatabaseFailures
    /// The timers of the entries that wait for their pictures; the work for each ends when its time is over.
    private var running: [EntryID: TimerID] = [:]
    private let slots = PictureSlots()

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - database: The agent's database.
    ///   - loop: The loop on whose thread this runs.
    ///   - means: The means of getting pictures; nil for an agent that shows none.
    ///   - texts: Returns the look-up for the texts of an app.
    ///   - failures: The observer of failures of the database.
    init(
        _ database: AgentDatabase, loop: EventLoop, means: Means?, texts: @escaping (AppID) -> AppTranslation,
        failures: DatabaseFailures
    ) {
        self.database = database
        self.loop = loop
        self.means = means
        self.texts = texts
        self.failures = failures
    }

    /// Passes entries on; one with a picture waits until its picture is ready.
    func entriesArrived(_ entries: [EntryID]) {
        var ready: [EntryID] = []
        for number in entries {
            do throws(SQLError) {
                if let wish = try wish(of: number), let slot = try slot(for: wish) {
                    start(wish, in: slot)
                } else {
                    ready.append(number)
                }
            } catch {
                failures.report(error)
                ready.append(number)
            }
        }
        if !ready.isEmpty { onReady?(ready) }
    }

    /// Deletes the pictures of entries that were removed.
    func sweep() {
        guard let means else { return }
        do {
            let kept = Set(try database.inbox.withPictures())
            for number in means.folder.sweep(keeping: { kept.contains($0) }) {
                try database.inbox.setPicture(nil, of: number)
            }
        } catch {
            failures.report(error)
        }
    }

    // MARK: One picture

    /// The picture that an entry should have.
    private struct Wish {
        var number: EntryID
        var appID: AppID
        var source: Source
    }

    /// The place from which a picture comes.
    private enum Source {
        /// A host, one of those that the app names.
        case address(NotificationLink, from: [PictureHost])
        /// A file that the app's filter named.
        case file(String)

        /// The member of the payload that names the picture.
        var member: String {
            switch self {
            case .address: "attachment-url"
            case .file: "attachment-path"
            }
        }
    }

    /// Returns the picture to get for an entry; nil for an entry that is shown without one.
    private func wish(of number: EntryID) throws(SQLError) -> Wish? {
        guard means != nil, let entry = try database.inbox.entry(number), entry.state == .waiting,
            let app = try database.apps.app(id: entry.appID),
            let payload = try database.shownPayload(of: entry, texts(entry.appID)), payload.alert != nil,
            let source = Self.source(payload, app)
        else { return nil }
        let wish = Wish(number: number, appID: app.appID, source: source)
        if let failure = try refusal(of: source, app) {
            try note(failure, on: wish)
            return nil
        }
        return wish
    }

    /// Returns the place of a notification's picture; nil without a picture.
    ///
    /// A path takes precedence, because the filter chose it.
    ///
    /// - Parameters:
    ///   - payload: The payload that is shown.
    ///   - app: The app, which names the hosts.
    /// - Returns: The place.
    private static func source(_ payload: Payload, _ app: RegisteredApp) -> Source? {
        if let path = payload.picturePath { return .file(path) }
        return payload.picture.map { .address($0, from: app.manifest.pictureHosts) }
    }

    /// Returns the reason for not fetching a picture; nil if it may be fetched.
    private func refusal(of source: Source, _ app: RegisteredApp) throws(SQLError) -> PictureFailure? {
        guard try database.settings.settings(of: app).allowsPictures else { return PictureFailure(.turnedOff) }
        if case .address(let link, let hosts) = source, !hosts.contains(where: { $0.matches(link) }) {
            return .hostNotNamed(link.shownTarget)
        }
        return nil
    }

    /// Takes a slot for a picture; nil, with a note on the entry, if too many others are being fetched.
    private func slot(for wish: Wish) throws(SQLError) -> PictureSlot? {
        if let slot = slots.take(wish.appID) { return slot }
        try note(PictureFailure(.tooMany), on: wish)
        return nil
    }

    private func note(_ failure: PictureFailure, on wish: Wish) throws(SQLError) {
        try database.inbox.addIgnored("\(wish.source.member): \(failure.phrase)", on: wish.number)
    }

    private func start(_ wish: Wish, in slot: PictureSlot) {
        guard let means else { return }
        let deadline = PictureDeadline(after: means.timeout)
        running[wish.number] = loop.schedule(after: means.timeout) { [weak self] in
            self?.finish(wish, .failure(deadline.failure))
        }
        loop.startTask { [weak self] in
            let result: Result<[UInt8], PictureFailure>
            do throws(PictureFailure) {
                result = .success(try await Self.png(from: wish.source, in: slot, means, deadline))
            } catch {
                result = .failure(error)
            }
            self?.finish(wish, result)
        }
    }

    private static func png(
        from source: Source, in slot: PictureSlot, _ means: Means, _ deadline: PictureDeadline
    ) async throws(PictureFailure) -> [UInt8] {
        let picture: PictureConverter.Picture =
            switch source {
            case .address(let link, let hosts): .content(try await means.fetcher.fetch(link, from: hosts, by: deadline))
            case .file(let path): .file(path)
            }
        return try await means.converter.png(of: picture, in: slot, by: deadline)
    }

    private func store(_ result: Result<[UInt8], PictureFailure>, _ wish: Wish) throws(SQLError) {
        let saved: Result<String, PictureFailure>
        do throws(PictureFailure) {
            guard let means else { return }
            saved = .success(try means.folder.save(try result.get(), of: wish.number))
        } catch {
            saved = .failure(error)
        }
        switch saved {
        case .success(let path):
            try database.inbox.setPicture(path, of: wish.number)
            sweep()
        case .failure(let failure):
            agentLog.warning("picture_ignored", ["app": wish.appID.text, "error": failure.phrase])
            try note(failure, on: wish)
        }
    }

    /// Stores the result and passes the entry on, unless its time is over.
    private func finish(_ wish: Wish, _ result: Result<[UInt8], PictureFailure>) {
        let number = wish.number
        guard let timer = running.removeValue(forKey: number) else { return }
        loop.cancel(timer)
        do throws(SQLError) {
            // The entry may have been removed in the meantime.
            if try database.inbox.entry(number) != nil { try store(result, wish) }
        } catch {
            failures.report(error)
        }
        onChange?()
        onReady?([number])
    }
}
