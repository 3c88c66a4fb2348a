// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita
internal import PushNet

/// The icons that are files, each decoded once for every place that shows it, one after the other in another process.
final class IconStore {
    // Safety: made and used on the main thread alone, as everything of GTK.
    nonisolated(unsafe) static let shared = IconStore()

    private static let iconCountMax = 1024
    private static let decodingMilliseconds: UInt32 = 3000
    /// For the reader's own start, which a busy machine delays.
    private static let startMilliseconds: UInt32 = 10_000
    /// After which it looks again whether a file is another.
    private static let freshMilliseconds: Int64 = 5000
    /// For which the reader stays without work.
    private static let restMilliseconds: UInt32 = 5000

    private struct Key: Hashable {
        var path: String
        var pixels: Int
    }

    private struct Icon {
        /// A `GdkTexture`; nil while there is none to be shown.
        var picture: Widget?
        var stamp = ""
        /// Why there is none; what the log says already.
        var reason = ""
        /// When the file was looked at; nil for never.
        var lookedAt: Int64?
        var waiting: [(Widget) -> Void] = []
    }

    private var icons: [Key: Icon] = [:]
    /// The oldest first.
    private var order: [Key] = []
    private var queue: [Key] = []
    private var current: Key?
    private var reader: IconReaderProcess?
    private var isReady = false
    /// Grows with each wait, so that a timer knows whether it is still of use.
    private var turn = 0
    private let log = EventLog(threshold: .info, isJournal: false)

    /// Shows a file's picture, at once if it is there, else when it is; never if it cannot be shown.
    ///
    /// - Parameters:
    ///   - path: Absolute.
    ///   - pixels: The largest width and height.
    ///   - show: Gets a `GdkTexture`; twice, when the file has become another one.
    func load(_ path: String, pixels: Int, _ show: @escaping (Widget) -> Void) {
        let key = Key(path: path, pixels: pixels)
        if icons[key] == nil { makeRoom(for: key) }
        var icon = icons[key] ?? Icon()
        if let picture = icon.picture { show(picture) }
        let isFresh = icon.lookedAt.map { MainLoop.monotonicMilliseconds - $0 < Self.freshMilliseconds } ?? false
        guard !isFresh else { return }
        icon.waiting.append(show)
        icons[key] = icon
        guard icon.waiting.count == 1 else { return }
        queue.append(key)
        // Texts come first.
        MainLoop.whenIdle { [weak self] in self?.askNext() }
    }

    private func makeRoom(for key: Key) {
        order.append(key)
        guard order.count > Self.iconCountMax else { return }
        // What somebody waits for stays.
        guard let index = order.firstIndex(where: { icons[$0]?.waiting.isEmpty ?? false }) else { return }
        icons[order.remove(at: index)] = nil
    }

    // MARK: One after the other

    private func askNext() {
        guard current == nil else { return }
        guard !queue.isEmpty else { return rest() }
        let key = queue.removeFirst()
        current = key
        if reader == nil { start() }
        guard let reader else { return finish("no process can be started") }
        wait(isReady ? Self.decodingMilliseconds : Self.startMilliseconds)
        reader.ask(IconRequest(path: key.path, pixels: key.pixels, stamp: icons[key]?.stamp ?? ""))
    }

    private func start() {
        isReady = false
        reader = IconReaderProcess { [weak self] in self?.take($0) }
    }

    /// Gives up what it takes too long for.
    private func wait(_ milliseconds: UInt32) {
        turn += 1
        let started = turn
        MainLoop.after(milliseconds: milliseconds) { [weak self] in
            guard let self, turn == started, current != nil else { return }
            reader = nil
            finish("it took more than \(milliseconds / 1000) s")
        }
    }

    /// Lets go of the reader after a while.
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
            if let current { icons[current]?.picture = Self.texture(picture) }
            finish("")
        case .failure:
            // Not while it is on the way up from there.
            let gone = reader
            reader = nil
            MainLoop.whenIdle { _ = gone }
            finish("its decoding needs too much memory, or ends the program that does it")
        }
    }

    /// Ends what was asked last.
    ///
    /// - Parameter reason: Why there is no picture; empty when there is one, nil when all is as it was.
    private func finish(_ reason: String?) {
        guard let key = current else { return }
        current = nil
        turn += 1
        guard var icon = icons[key] else { return }
        if let reason, !reason.isEmpty {
            if reason != icon.reason { log.warning("icon-refused", ["file": key.path, "reason": reason]) }
            icon.picture = nil
        }
        icon.reason = reason ?? icon.reason
        icon.lookedAt = MainLoop.monotonicMilliseconds
        let waiting = icon.waiting
        icon.waiting = []
        icons[key] = icon
        if reason != nil, let picture = icon.picture { for show in waiting { show(picture) } }
        askNext()
    }

    /// `gdk_memory_texture_new`.
    private static func texture(_ picture: IconPicture) -> Widget {
        let bytes = unsafe g_bytes_new(picture.points, UInt(picture.points.count))
        defer { unsafe g_bytes_unref(bytes) }
        return unsafe Widget.adopting(
            gdk_memory_texture_new(
                Int32(picture.width), Int32(picture.height), GDK_MEMORY_R8G8B8A8, bytes, gsize(picture.width * 4)))
    }
}
