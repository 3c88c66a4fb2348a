// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// The protocol `com.canonical.dbusmenu` for a menu without submenus, apart from the connection.
///
/// The menu's root has the number 0, and the items are its children. The label of a number never changes: an item with
/// another label gets another number. So the signals, which every program on the bus receives, contain no labels.
struct TrayMenu {
    static let interface = "com.canonical.dbusmenu"
    private static let root: Int32 = 0

    /// An item with its number in the protocol.
    private struct Numbered: Equatable {
        let number: Int32
        var item: TrayMenuItem
    }

    private var items: [Numbered] = []
    private var lastNumber: Int32 = 0
    /// The version of the layout, which changes when items are added, removed, moved or renamed.
    private(set) var revision: UInt32 = 1

    init(items: [TrayMenuItem]) { self.items = numbered(items) }

    /// A signal that the menu's clients need.
    struct Signal: Equatable {
        var member: String
        var arguments: [BusValue]
    }

    /// Replaces the items; returns the signal about it, or nil if nothing changed.
    mutating func replace(with items: [TrayMenuItem]) -> Signal? {
        let earlier = self.items
        self.items = numbered(items)
        guard earlier != self.items else { return nil }
        guard earlier.map(\.number) == self.items.map(\.number) else {
            revision &+= 1
            return Signal(member: "LayoutUpdated", arguments: [.uint32(revision), .int32(Self.root)])
        }
        let changed = zip(earlier, self.items).filter { $0 != $1 }.map { Self.described($1, Self.changing) }
        return Signal(
            member: "ItemsPropertiesUpdated", arguments: [.array("(ia{sv})", changed), .array("(ias)", [])])
    }

    /// The properties that may change while the number stays.
    private static let changing = ["enabled", "toggle-state"]

    /// Returns items with their present numbers, and new and renamed ones with new numbers.
    private mutating func numbered(_ items: [TrayMenuItem]) -> [Numbered] {
        items.map { item in
            let isSame = { (present: TrayMenuItem) in
                present.id == item.id && present.label.utf8.elementsEqual(item.label.utf8)
                    && present.isCheckbox == item.isCheckbox
            }
            if let present = self.items.first(where: { isSame($0.item) }) {
                return Numbered(number: present.number, item: item)
            }
            lastNumber = lastNumber == .max ? 1 : lastNumber + 1
            return Numbered(number: lastNumber, item: item)
        }
    }

    // MARK: Methods

    /// Returns the layout below an item, for `GetLayout`.
    ///
    /// - Parameters:
    ///   - parent: The number of the item; 0 for the whole menu.
    ///   - depth: The number of levels below it; negative for all.
    ///   - names: The wanted properties; empty for all.
    /// - Returns: The revision and the layout; nil if the number is unknown.
    func layout(below parent: Int32, depth: Int32, names: [String]) -> [BusValue]? {
        guard let own = properties(of: parent, names) else { return nil }
        let children = parent == Self.root && depth != 0 ? items : []
        let layouts = children.map { child in
            BusValue.variant(Self.layout(child.number, Self.properties(child.item, names), []))
        }
        return [.uint32(revision), Self.layout(parent, own, layouts)]
    }

    /// Returns the properties of items, for `GetGroupProperties`; without numbers, those of all items.
    func groupProperties(of numbers: [Int32], names: [String]) -> [BusValue] {
        let wanted = numbers.isEmpty ? items : items.filter { numbers.contains($0.number) }
        let isRootWanted = numbers.isEmpty || numbers.contains(Self.root)
        let root = isRootWanted ? properties(of: Self.root, names) : nil
        let described = root.map { [BusValue.structure([.int32(Self.root), .dictionary($0)])] } ?? []
        return [.array("(ia{sv})", described + wanted.map { Self.described($0, names) })]
    }

    /// Returns a property of an item, for `GetProperty`; nil if the item or the property is unknown.
    func property(_ name: String, of number: Int32) -> BusValue? {
        properties(of: number, [name])?.first.map { .variant($0.1) }
    }

    /// Returns the numbers that the menu does not have.
    func unknown(among numbers: [Int32]) -> [Int32] {
        numbers.filter { number in number != Self.root && !items.contains { $0.number == number } }
    }

    /// Returns the ID of an item that the user may choose; nil for any other number, such as that of an item that has
    /// left the menu meanwhile.
    func choice(_ number: Int32) -> Int? {
        let item = items.first { $0.number == number }?.item
        return item.flatMap { $0.isEnabled && $0.kind != .separator ? $0.id : nil }
    }

    // MARK: Values

    private func properties(of number: Int32, _ names: [String]) -> [(String, BusValue)]? {
        guard number != Self.root else { return Self.wanted([("children-display", .string("submenu"))], names) }
        return items.first { $0.number == number }.map { Self.properties($0.item, names) }
    }

    private static func layout(_ number: Int32, _ own: [(String, BusValue)], _ children: [BusValue]) -> BusValue {
        .structure([.int32(number), .dictionary(own), .array("v", children)])
    }

    private static func described(_ numbered: Numbered, _ names: [String]) -> BusValue {
        .structure([.int32(numbered.number), .dictionary(properties(numbered.item, names))])
    }

    /// Returns the properties of an item, including those with the protocol's default value.
    private static func properties(_ item: TrayMenuItem, _ names: [String]) -> [(String, BusValue)] {
        var properties: [(String, BusValue)] = [
            ("type", .string(item.kind == .separator ? "separator" : "standard")), ("visible", .bool(true)),
            ("enabled", .bool(item.isEnabled)), ("label", .text(escaped(item.label))),
        ]
        if case .checkbox(let isOn) = item.kind {
            properties += [("toggle-type", .string("checkmark")), ("toggle-state", .int32(isOn ? 1 : 0))]
        }
        return wanted(properties, names)
    }

    private static func wanted(_ properties: [(String, BusValue)], _ names: [String]) -> [(String, BusValue)] {
        names.isEmpty ? properties : properties.filter { property in names.contains { $0 == property.0 } }
    }

    /// Returns a label in which no underscore marks an access key.
    private static func escaped(_ label: String) -> String {
        String(String.UnicodeScalarView(label.unicodeScalars.flatMap { $0 == "_" ? [$0, $0] : [$0] }))
    }
}

extension TrayMenuItem {
    fileprivate var isCheckbox: Bool {
        switch kind {
        case .checkbox: true
        case .command, .separator: false
        }
    }
}
