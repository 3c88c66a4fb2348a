// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushDBus
internal import PushNet

/// Handles the user's input to a program's item in the tray, and supplies its content.
package protocol TrayDelegate: AnyObject {
    /// The current content.
    var trayContent: TrayContent { get }
    /// Decides whether a program on the bus may read and use the item, now or later; in order for each program.
    func decide(on caller: String, completion: @escaping (_ isAllowed: Bool) -> Void)
    /// Handles a click on the item.
    ///
    /// - Parameter activationToken: The unchecked token that lets a window come to the front.
    func trayActivated(activationToken: String?)
    /// Handles a click on an item of the menu.
    ///
    /// - Parameters:
    ///   - id: The ID of the menu item.
    ///   - activationToken: The unchecked token that lets a window come to the front.
    func trayChose(_ id: Int, activationToken: String?)
}

/// An item in the tray for as long as this object exists, on a connection of its own.
///
/// A tray removes an item when the item's connection ends; the protocol has no other way.
final class TrayConnection {
    /// The program that keeps the list of all items.
    static let watcherName = "org.kde.StatusNotifierWatcher"
    private static let watcherPath = "/StatusNotifierWatcher"

    private let driver: BusDriver
    private let id: String
    private let name: String
    private weak var delegate: (any TrayDelegate)?
    private var content: TrayContent
    private var menu: TrayMenu
    /// The token for the next click.
    private var activationToken: String?

    /// Connects and serves the item, which no tray knows until `register`.
    ///
    /// - Parameters:
    ///   - bus: The session bus.
    ///   - loop: The loop on whose thread this runs.
    ///   - id: The name of the program, which stays the same.
    ///   - delegate: The source of the content.
    /// - Throws: `BusError` or `NetError` when the bus cannot be used.
    init(bus: BusConnection.Bus, loop: EventLoop, id: String, delegate: any TrayDelegate) throws {
        self.id = id
        self.delegate = delegate
        name = "\(StatusNotifierItem.interface)-\(getpid())-1"
        driver = try BusDriver(loop: loop, connection: BusConnection(bus))
        content = delegate.trayContent
        menu = TrayMenu(items: content.menu)
        try driver.connection.serve(
            path: StatusNotifierItem.path, interface: StatusNotifierItem.interface,
            introspection: StatusNotifierItem.introspection, hasProperties: true,
            replyingLater: { [weak self] call, reply in self?.check(call, reply) { $0.answerItem(call) } })
        try driver.connection.serve(
            path: StatusNotifierItem.menuPath, interface: TrayMenu.interface,
            introspection: StatusNotifierItem.menuIntrospection, hasProperties: true,
            replyingLater: { [weak self] call, reply in self?.check(call, reply) { $0.answerMenu(call) } })
        _ = try driver.connection.requestName(name)
    }

    /// Called when the bus is lost.
    var onLost: (() -> Void)? {
        didSet { driver.connectionLost = { [onLost] _ in onLost?() } }
    }

    /// Adds the item to the watcher's list; the completion gets the result.
    func register(completion: @escaping (Result<Void, BusError>) -> Void) {
        driver.connection.send(
            Self.watcherName, Self.watcherPath, Self.watcherName, "RegisterStatusNotifierItem", [.string(name)]
        ) { completion($0.map { _ in }) }
    }

    /// Reads the content again and tells the trays what has changed.
    ///
    /// - Returns: Whether the menu has changed.
    @discardableResult
    func refresh() -> Bool {
        guard let delegate else { return false }
        let earlier = content
        content = delegate.trayContent
        for signal in StatusNotifierItem.signals(from: earlier, to: content) {
            emit(signal, StatusNotifierItem.path, StatusNotifierItem.interface)
        }
        guard let signal = menu.replace(with: content.menu) else { return false }
        emit(signal, StatusNotifierItem.menuPath, TrayMenu.interface)
        return true
    }

    private func emit(_ signal: TrayMenu.Signal, _ path: String, _ interface: String) {
        // A connection that cannot send is lost, and `onLost` follows.
        try? driver.connection.emit(path, interface, signal.member, signal.arguments)
    }

    // MARK: Calls

    /// The maximum size of a call's arguments.
    private static let argumentByteCountMax = 64 * 1024

    private func check(
        _ call: IncomingCall, _ reply: BusReply,
        _ answer: @escaping (TrayConnection) -> Result<[BusValue], BusError>
    ) {
        guard let delegate else { return }
        guard call.argumentByteCount <= Self.argumentByteCountMax else {
            return reply.answer(.failure(.invalidArguments("more than \(Self.argumentByteCountMax) bytes")))
        }
        delegate.decide(on: call.sender) { [weak self] isAllowed in
            guard isAllowed, let self else {
                return reply.answer(
                    .failure(
                        BusError(
                            name: "org.freedesktop.DBus.Error.AccessDenied",
                            message: "Only the desktop's own programs may use the tray.")))
            }
            reply.answer(answer(self))
        }
    }

    private func answerItem(_ call: IncomingCall) -> Result<[BusValue], BusError> {
        guard call.interface == StatusNotifierItem.interface else {
            return StatusNotifierItem.answer(
                call, StatusNotifierItem.properties(of: content, id: id), of: StatusNotifierItem.interface)
        }
        switch call.member {
        case "Activate", "SecondaryActivate": delegate?.trayActivated(activationToken: activationToken.take())
        case "ProvideXdgActivationToken": activationToken = call.arguments.first?.stringValue
        // The tray itself shows the menu.
        case "ContextMenu", "Scroll": break
        default: return .failure(.unknownMethod(call.member))
        }
        return .success([])
    }

    private func answerMenu(_ call: IncomingCall) -> Result<[BusValue], BusError> {
        guard call.interface == TrayMenu.interface else {
            return StatusNotifierItem.answer(call, StatusNotifierItem.menuProperties, of: TrayMenu.interface)
        }
        let arguments = MenuArguments(values: call.arguments)
        switch call.member {
        case "GetLayout":
            guard
                let layout = menu.layout(
                    below: arguments.id(0), depth: arguments.id(1), names: arguments.texts(2))
            else { return .failure(.invalidArguments("the menu has no such item")) }
            return .success(layout)
        case "GetGroupProperties":
            return .success(menu.groupProperties(of: arguments.ids(0), names: arguments.texts(1)))
        case "GetProperty":
            guard let value = menu.property(arguments.text(1), of: arguments.id(0)) else {
                return .failure(.invalidArguments("the menu has no such item or property"))
            }
            return .success([value])
        case "Event":
            choose(arguments.id(0), arguments.text(1))
            return .success([])
        case "EventGroup":
            let events = arguments.events(0)
            // A person clicks on one entry at a time.
            if let click = events.first(where: { $0.name == "clicked" }) { choose(click.id, click.name) }
            return .success([Self.array(menu.unknown(among: events.map(\.id)))])
        case "AboutToShow": return .success([.bool(refresh())])
        case "AboutToShowGroup":
            let ids = arguments.ids(0)
            let isChanged = refresh()
            let unknown = menu.unknown(among: ids)
            return .success([Self.array(isChanged ? ids.filter { !unknown.contains($0) } : []), Self.array(unknown)])
        default: return .failure(.unknownMethod(call.member))
        }
    }

    private func choose(_ id: Int32, _ event: String) {
        guard event == "clicked", let choice = menu.choice(id) else { return }
        delegate?.trayChose(choice, activationToken: activationToken.take())
    }

    private static func array(_ ids: [Int32]) -> BusValue { .array("i", ids.map { .int32($0) }) }
}

/// The arguments of a call to the menu; missing and malformed ones get an ID that no item has.
private struct MenuArguments {
    var values: [BusValue]

    private func value(_ index: Int) -> BusValue? { index < values.count ? values[index] : nil }

    func id(_ index: Int) -> Int32 { Self.id(value(index)) }

    func ids(_ index: Int) -> [Int32] { value(index)?.arrayValue?.map(Self.id) ?? [] }

    func text(_ index: Int) -> String { value(index)?.stringValue ?? "" }

    func texts(_ index: Int) -> [String] { value(index)?.arrayValue?.compactMap(\.stringValue) ?? [] }

    /// Returns the IDs and the names of the events of an `a(isvu)`.
    func events(_ index: Int) -> [(id: Int32, name: String)] {
        (value(index)?.arrayValue ?? []).map { event in
            guard case .structure(let fields) = event, fields.count > 1 else { return (-1, "") }
            return (Self.id(fields[0]), fields[1].stringValue ?? "")
        }
    }

    private static func id(_ value: BusValue?) -> Int32 { value?.integerValue.flatMap(Int32.init(exactly:)) ?? -1 }
}
