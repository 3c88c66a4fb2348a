// SPDX-License-Identifier: Apache-2.0

@testable import LinuxDesktop
import PushDBus
import Testing

struct TrayMenuTests {
    private static let items = [
        TrayMenuItem(id: 70, label: "a_b"), TrayMenuItem(id: 80, kind: .separator),
        TrayMenuItem(id: 90, kind: .checkbox(isOn: true), label: "Quiet", isEnabled: false),
    ]

    @Test func `the layout lists the items below the root, with the wanted properties only`() throws {
        let menu = TrayMenu(items: Self.items)
        let layout = try #require(menu.layout(below: 0, depth: -1, names: ["label"]))
        #expect(layout.map(\.signature) == ["u", "(ia{sv}av)"])
        guard case .structure(let root) = layout[1], case .array(_, let children) = root[2] else {
            Issue.record("\(layout)")
            return
        }
        let labels = children.map { child -> String in
            guard case .structure(let fields) = child.withoutVariant else { return "" }
            #expect(fields[1].dictionaryPairs?.map(\.0) == ["label"])
            return fields[1].text("label")
        }
        // A single underscore would mark an access key.
        #expect(labels == ["a__b", "", "Quiet"])
        let rootAlone = try #require(menu.layout(below: 0, depth: 0, names: []))
        let submenu = BusValue.dictionary([("children-display", .string("submenu"))])
        #expect(rootAlone[1] == .structure([.int32(0), submenu, .array("v", [])]))
        #expect(menu.layout(below: 5, depth: -1, names: []) == nil)
    }

    @Test func `only enabled items that are in the menu can be chosen`() {
        let menu = TrayMenu(items: Self.items)
        #expect((0...4).map { menu.choice($0) } == [nil, 70, nil, nil, nil])
        #expect(menu.unknown(among: [0, 3, 4]) == [4])
    }

    @Test func `a property is read by its name, and an unknown one is nil`() {
        let menu = TrayMenu(items: Self.items)
        #expect(menu.property("toggle-state", of: 3) == .variant(.int32(1)))
        #expect(menu.property("toggle-state", of: 1) == nil)
        #expect(menu.property("label", of: 4) == nil)
    }

    @Test func `a changed state is announced without labels, which every program on the bus would receive`() {
        var menu = TrayMenu(items: Self.items)
        #expect(menu.replace(with: Self.items) == nil)
        var changed = Self.items
        changed[2].kind = .checkbox(isOn: false)
        let properties = BusValue.dictionary([("enabled", .bool(false)), ("toggle-state", .int32(0))])
        let described = BusValue.array("(ia{sv})", [.structure([.int32(3), properties])])
        #expect(
            menu.replace(with: changed)
                == .init(member: "ItemsPropertiesUpdated", arguments: [described, .array("(ias)", [])]))
        #expect(menu.revision == 1)
    }

    @Test func `a renamed item has a new number, so that a late click on the old one does nothing`() {
        var menu = TrayMenu(items: Self.items)
        var renamed = Self.items
        renamed[0].label = "c"
        let layout = menu.replace(with: renamed)
        #expect(layout == .init(member: "LayoutUpdated", arguments: [.uint32(2), .int32(0)]))
        #expect(menu.choice(1) == nil && menu.choice(4) == 70)
        #expect(menu.replace(with: Array(renamed.dropFirst()))?.member == "LayoutUpdated")
        #expect(menu.choice(4) == nil)
    }
}
