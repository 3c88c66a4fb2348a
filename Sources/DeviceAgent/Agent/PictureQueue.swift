// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCore
internal import PushNet
internal import PushSQLite

/// Fetches the pictures of notifications before their alerts are shown.
///
/// ```
/// arrived ──no picture, or not allowed──▶ ready
///    └──▶ fetching, converting ──stored, failed or timed out──▶ ready
/// ```
///
/// An alert never waits longer than `Limits.pictureTimeout`; then it is shown without its picture. After a crash, waiting
/// alerts are shown without pictures.
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
    /// The timers of the entries that wait for their pictures.
    private var running: [EntryID: TimerID] = [:]
    /// The number of pictures that are being fetched or converted, also after their time is over.
    private var workCount = 0

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

    /// Passes on entries, those with pictures when the pictures are there.
    func entriesArrived(_ entries: [EntryID]) {
        var ready: [EntryID] = []
        for number in entries {
            do throws(SQLiteError) {
                guard let wish = try wish(of: number) else {
                    ready.append(number)
                    continue
                }
                start(wish)
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

    private struct Wish {
        var number: EntryID
        var appID: AppID
        var link: NotificationLink
        var hosts: [PictureHost]
    }

    /// Returns the picture to get for an entry; nil for an entry that is shown without one.
    private func wish(of number: EntryID) throws(SQLiteError) -> Wish? {
        guard means != nil, let entry = try database.inbox.entry(number), entry.state == .waiting,
            let app = try database.apps.app(id: entry.appID),
            let payload = try database.shownPayload(of: entry, texts(entry.appID)), payload.alert != nil,
            let link = payload.picture
        else { return nil }
        let hosts = app.manifest.pictureHosts
        guard try database.settings.settings(of: app).allowsPictures else {
            try note("pictures are switched off for the app", on: number)
            return nil
        }
        guard hosts.contains(where: { $0.matches(link) }) else {
            try note("the app does not name the host \(link.shownTarget) in picture_hosts", on: number)
            return nil
        }
        guard workCount < Limits.pictureFetchCountMax else {
            try note("too many other pictures were being fetched", on: number)
            return nil
        }
        return Wish(number: number, appID: app.appID, link: link, hosts: hosts)
    }

    private func note(_ reason: String, on number: EntryID) throws(SQLiteError) {
        try database.inbox.addIgnored("attachment-url: \(reason)", on: number)
    }

    private func start(_ wish: Wish) {
        guard let means else { return }
        let timeout = means.timeout
        running[wish.number] = loop.schedule(after: timeout) { [weak self] in
            self?.finish(wish, .failure(PictureFailure("it did not arrive within \(timeout)")))
        }
        workCount += 1
        loop.startTask { [weak self] in
            let result: Result<[UInt8], PictureFailure>
            do throws(PictureFailure) {
                let bytes = try await means.fetcher.fetch(wish.link, from: wish.hosts, timeout: timeout)
                result = .success(try await means.converter.png(of: bytes, timeout: timeout))
            } catch {
                result = .failure(error)
            }
            self?.workCount -= 1
            self?.finish(wish, result)
        }
    }

    private func store(_ result: Result<[UInt8], PictureFailure>, _ wish: Wish) throws(SQLiteError) {
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
            try note(failure.phrase, on: wish.number)
        }
    }

    /// Stores the result and passes the entry on, unless its time is over.
    private func finish(_ wish: Wish, _ result: Result<[UInt8], PictureFailure>) {
        let number = wish.number
        guard let timer = running.removeValue(forKey: number) else { return }
        loop.cancel(timer)
        do throws(SQLiteError) {
            // The entry may have been removed in the meantime.
            if try database.inbox.entry(number) != nil { try store(result, wish) }
        } catch {
            failures.report(error)
        }
        onChange?()
        onReady?([number])
    }
}
