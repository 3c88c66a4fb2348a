// SPDX-License-Identifier: Apache-2.0

internal import TestSupport

/// Reads a program's windows as a screen reader does, over AT-SPI: see atspi.py.
final class ScreenReader: Sendable {
    private let script: ScriptedProcess

    /// Connects to the accessibility bus of a workplace.
    init(on screen: DesktopScreen) throws {
        script = try ScriptedProcess(systemScript: "Panel/atspi.py", environment: screen.environment)
    }

    /// What the windows of a process hold; nothing while it has none.
    func contents(ofProcess process: Int32) async throws -> ScreenContents {
        try await script.ask(Command(op: "tree", process: process))
    }

    /// Presses a button as a screen reader does, without a pointer.
    func press(_ element: ScreenElement) async throws {
        let _: Outcome = try await script.ask(Command(op: "press", place: element.place))
    }

    /// How many elements are right inside an element, those out of sight as well.
    func count(in element: ScreenElement) async throws -> Int {
        let answer: Count = try await script.ask(Command(op: "count", place: element.place))
        return answer.count
    }

    private struct Count: Decodable {
        let count: Int
    }

    private struct Command: Encodable {
        var op: String
        var process: Int32?
        var place: [String]?
    }

    private struct Outcome: Decodable {
        let done: Bool
    }
}

/// Something on the screen, as a screen reader knows it.
struct ScreenElement: Decodable, Sendable {
    /// For example `button`.
    let role: String
    let name: String
    let description: String
    /// For example `focused`.
    let states: Set<String>
    /// How deep it is in its window, which has 0.
    let depth: Int
    fileprivate let place: [String]
    private let frame: [Int]

    /// Distance from the window's left.
    var left: Int { frame[0] }
    /// Distance from the window's top.
    var top: Int { frame[1] }
    var width: Int { frame[2] }
    var height: Int { frame[3] }
    var right: Int { left + width }
    var bottom: Int { top + height }
    var isOn: Bool { states.contains("checked") }
    var isFocused: Bool { states.contains("focused") }
    var isSensitive: Bool { states.contains("sensitive") }
    var isSelected: Bool { states.contains("selected") }
}

/// What the windows of a program hold, each thing behind the one that holds it.
struct ScreenContents: Decodable, Sendable {
    let nodes: [ScreenElement]

    /// The windows alone.
    var windows: [ScreenElement] { nodes.filter { $0.depth == 0 } }

    /// Every element with a role, in reading order.
    func all(_ role: String) -> [ScreenElement] { nodes.filter { $0.role == role } }

    /// The first element with a role and a name.
    func first(_ role: String, _ name: String) -> ScreenElement? { first(role) { $0 == name } }

    /// The first element with a role and a name of a kind.
    func first(_ role: String, where isMeant: (String) -> Bool) -> ScreenElement? {
        nodes.first { $0.role == role && isMeant($0.name) }
    }

    /// What is in an element, without itself.
    func inside(_ element: ScreenElement) -> ScreenContents {
        guard let index = nodes.firstIndex(where: { $0.isSame(as: element) }) else { return ScreenContents(nodes: []) }
        return ScreenContents(nodes: Array(nodes[(index + 1)...].prefix { $0.depth > element.depth }))
    }

    /// The window in which an element is.
    func window(of element: ScreenElement) -> ScreenElement? {
        guard let index = nodes.firstIndex(where: { $0.isSame(as: element) }) else { return nil }
        return nodes[...index].last { $0.depth == 0 }
    }

    /// What has the focus.
    var focused: ScreenElement? { nodes.first(where: \.isFocused) }

    /// Each text on the screen, in reading order.
    var texts: [String] { all("label").map(\.name) }

    /// Whether nothing is wider than the window, everything has a name, and the window is no larger than the screen.
    func fits(_ size: DesktopScreen.Size) -> Bool {
        guard let window = windows.first else { return false }
        let used = nodes.filter { ["button", "tab", "switch", "list item"].contains($0.role) }
        let read = used + all("label")
        return window.width <= size.width && window.height <= size.height
            && read.allSatisfy { $0.left >= 0 && $0.right <= window.width }
            && used.allSatisfy { !$0.name.isEmpty }
            && all("tab").allSatisfy { $0.bottom <= window.height && $0.height >= 44 }
    }

    /// For a failure's text: role, name, states and place of each thing that has a name.
    var transcript: String {
        nodes.filter { !$0.name.isEmpty }.map { element in
            let place = "\(element.left),\(element.top) \(element.width)x\(element.height)"
            let words = ["\(element.role) '\(element.name)'", place] + element.states.sorted()
            return String(repeating: "  ", count: element.depth) + words.joined(separator: " ")
        }.joined(separator: "\n")
    }
}

extension ScreenElement {
    fileprivate func isSame(as other: ScreenElement) -> Bool { place == other.place }
}
