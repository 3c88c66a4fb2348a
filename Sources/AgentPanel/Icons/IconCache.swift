// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit
internal import PushNet

/// The cache of icon files; a separate process decodes each file once, one at a time.
final class IconCache {
    // Safety: created and used only on the main thread, like all objects of GTK.
    nonisolated(unsafe) static let shared = IconCache()

    private static let iconCountMax = 1024
    private static let decodingMilliseconds: UInt32 = 3000
    /// The timeout for the start of the reader, which is slow on a busy machine.
    private static let startMilliseconds: UInt32 = 10_000
    /// The time after which a file is checked for changes again.
    private static let freshMilliseconds: Int64 = 5000
    /// The time after which an idle reader is ended.
    private static let restMilliseconds: UInt32 = 5000

    private struct Key: Hashable {
        var path: String
        var pixels: Int
    }

    private struct Icon {
        /// The texture; nil while the icon has no picture.
        var picture: Texture?
        var stamp = ""
        /// The reason why there is no picture, which was already logged; empty if there is one.
        var reason = ""
        /// The time of the last check; nil if the file was never checked.
        var lookedAt: MonotonicTime?
        var waiting: [(Texture) -> Void] = []
    }

    private var icons: [Key: Icon] = [:]
    /// The keys in the order of insertion, oldest first.
    private var order: [Key] = []
    private var queue: [Key] = []
    private var current: Key?
    private var reader: IconReaderProcess?
    private var isReady = false
    /// A counter of timeouts; a timer with an older number does nothing.
    private var turn = 0
    private let log = EventLog(threshold: .info, isJournal: false)

    /// Passes a file's picture to `show` as soon as it is decoded; never calls it if the file cannot be shown.
    ///
    /// - Parameters:
    ///   - path: The absolute path.
    ///   - pixels: The maximum width and height.
    ///   - show: Called with a texture; immediately for a cached picture, and again if the file has changed.
    func load(_ path: String, pixels: Int, _ show: @escaping (Texture) -> Void) {
        let key = Key(path: path, pixels: pixels)
        if icons[key] == nil { makeRoom(for: key) }
        var icon = icons[key] ?? Icon()
        if let picture = icon.picture { show(picture) }
        let isFresh = icon.lookedAt.map { .now < $0.advanced(byMilliseconds: Self.freshMilliseconds) } ?? false
        guard !isFresh else { return }
        icon.waiting.append(show)
        icons[key] = icon
        guard icon.waiting.count == 1 else { return }
        queue.append(key)
        // Decoding waits until the main loop is idle, so that texts are drawn first.
        MainLoop.whenIdle { [weak self] in self?.askNext() }
    }

    private func makeRoom(for key: Key) {
        order.append(key)
        guard order.count > Self.iconCountMax else { return }
        // An icon with waiting callbacks is not evicted.
        guard let index = order.firstIndex(where: { icons[$0]?.waiting.isEmpty ?? false }) else { return }
        icons[order.remove(at: index)] = nil
    }

    // MARK: Requests

    private func askNext() {
        guard current == nil else { return }
        guard !queue.isEmpty else { return rest() }
        let key = queue.removeFirst()
        current = key
        if reader == nil { start() }
        guard let reader else { return finish("the icon reader cannot be started") }
        wait(isReady ? Self.decodingMilliseconds : Self.startMilliseconds)
        reader.ask(IconRequest(path: key.path, pixels: key.pixels, stamp: icons[key]?.stamp ?? ""))
    }

    private func start() {
        isReady = false
        reader = IconReaderProcess { [weak self] in self?.take($0) }
    }

    /// Sets a timeout, after which the current request fails.
    private func wait(_ milliseconds: UInt32) {
        turn += 1
        let started = turn
        MainLoop.after(milliseconds: milliseconds) { [weak self] in
            guard let self, turn == started, current != nil else { return }
            reader = nil
            finish("decoding took more than \(milliseconds / 1000) s")
        }
    }

    /// Ends the reader after it has been idle for a while.
    private func rest() {
        turn += 1
        let started = turn
        MainLoop.after(milliseconds: Self.restMilliseconds) { [weak self] in
            if let self, turn == started { reader = nil }
        }
    }

    private func take(_ answer: Result<IconAnswer, IconReaderProcess.Gone>) {
        switch answer {
        case .success(.ready):
            isReady = true
            if current != nil { wait(Self.decodingMilliseconds) }
        case .success(.stamp(let stamp)):
            if let current { icons[current]?.stamp = stamp }
        case .success(.unchanged): finish(nil)
        case .success(.refused(let reason)): finish(reason)
        case .success(.picture(let picture)):
            if let current { icons[current]?.picture = Texture(picture) }
            finish("")
        case .failure:
            // This code runs in a callback of the reader, so the reader is released later.
            let gone = reader
            reader = nil
            MainLoop.whenIdle { _ = gone }
            finish("the icon reader ended; decoding may need too much memory")
        }
    }

    /// Completes the current request.
    ///
    /// - Parameter reason: The reason why there is no picture; empty if there is one, nil if the file did not change.
    private func finish(_ reason: String?) {
        guard let key = current else { return }
        current = nil
        turn += 1
        guard var icon = icons[key] else { return }
        if let reason, !reason.isEmpty {
            if reason != icon.reason { log.warning("icon_refused", ["file": key.path, "reason": reason]) }
            icon.picture = nil
        }
        icon.reason = reason ?? icon.reason
        icon.lookedAt = .now
        let waiting = icon.waiting
        icon.waiting = []
        icons[key] = icon
        if reason != nil, let picture = icon.picture { for show in waiting { show(picture) } }
        askNext()
    }
}
