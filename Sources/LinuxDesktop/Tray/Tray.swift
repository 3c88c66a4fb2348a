// SPDX-License-Identifier: Apache-2.0

package import PushDBus
package import PushNet

/// A program's item in the desktop's tray, by the protocol StatusNotifierItem.
///
/// The item exists while it is switched on and a watcher, the program that keeps the list of items, is on the bus:
///
/// ```
///   off ──switched on──▶ without a watcher ──watcher appears──▶ shown
///    ▲                          ▲                                 │ │
///    │                          └──────────watcher ends───────────┘ │
///    └──────────────────────switched off────────────────────────────┘
/// ```
package final class Tray {
    private let bus: BusConnection.Bus
    private let loop: EventLoop
    private let id: String
    private let log: EventLog
    private weak var delegate: (any TrayDelegate)?
    /// The unique name of the watcher; nil without a watcher.
    private var watcher: String?
    private var connection: TrayConnection?

    /// Whether the user wants the item.
    package var isOn = false {
        didSet { if isOn != oldValue { update() } }
    }

    /// Subscribes to the appearance of a watcher.
    ///
    /// The item stays off until `isOn` is set.
    ///
    /// - Parameters:
    ///   - bus: The session bus, to which the item opens a connection of its own.
    ///   - observing: A connection to the same bus that the caller drives; it is used only for this subscription.
    ///   - loop: The loop on whose thread this runs.
    ///   - id: The name of the program, which stays the same.
    ///   - log: Receives the reasons why the item is not shown.
    ///   - delegate: The source of the content.
    /// - Throws: `BusError` when the bus refuses the subscription.
    package init(
        bus: BusConnection.Bus, observing: BusConnection, loop: EventLoop, id: String, log: EventLog,
        delegate: any TrayDelegate
    ) throws(BusError) {
        self.bus = bus
        self.loop = loop
        self.id = id
        self.log = log
        self.delegate = delegate
        try observing.watchOwner(of: TrayConnection.watcherName) { [weak self] in self?.watcherChanged(to: $0) }
        watcher = try observing.owner(of: TrayConnection.watcherName)
    }

    /// Whether the item is shown, or about to be.
    package var isShown: Bool { connection != nil }

    /// Reads the content again if the item is shown.
    package func refresh() { connection?.refresh() }

    private func watcherChanged(to owner: String?) {
        watcher = owner
        // A new watcher does not know the items of the one before it.
        if owner != nil, connection != nil { register() } else { update() }
    }

    private func update() {
        guard isOn, watcher != nil else {
            if connection != nil { log.info("tray_item", ["shown": "false"]) }
            connection = nil
            return
        }
        guard connection == nil, let delegate else { return }
        do {
            let connection = try TrayConnection(bus: bus, loop: loop, id: id, delegate: delegate)
            connection.onLost = { [weak self] in self?.removeLater() }
            self.connection = connection
            register()
        } catch {
            log.warning("tray_item_failed", ["error": (error as? BusError)?.message ?? "\(error)"])
        }
    }

    private func register() {
        connection?.register { [weak self] result in
            guard let self else { return }
            switch result {
            case .success: log.info("tray_item", ["shown": "true"])
            case .failure(let error):
                log.warning("tray_item_failed", ["error": error.message])
                removeLater()
            }
        }
    }

    /// Removes the item once its connection is no longer in use.
    private func removeLater() {
        loop.atEndOfTurn { [weak self, weak connection] in
            if let self, self.connection === connection { self.connection = nil }
        }
    }
}
