// SPDX-License-Identifier: Apache-2.0

internal import TestSupport

/// Reads a program's windows as a screen reader does, over AT-SPI: see atspi.py.
final class ScreenReader: Sendable {
    private let script: ScriptedProcess

    /// Connects to the accessibility bus of a screen.
    init(on screen: DesktopScreen) throws {
        script = try ScriptedProcess(systemScript: "Panel/atspi.py", environment: screen.environment)
    }

    /// Returns the content of a process's windows, which is empty while it has none.
    func contents(ofProcess process: Int32) async throws -> ScreenContents {
        try await script.ask(Command(op: "tree", process: process))
    }

    /// Presses a button as a screen reader does, without a pointer.
    func press(_ element: ScreenElement) async throws {
        let _: Outcome = try await script.ask(Command(op: "press", place: element.place))
    }

    /// Returns the number of direct children of an element, including invisible ones.
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

/// An element on the screen, as a screen reader knows it.
struct ScreenElement: Decodable, Sendable {
    /// The role, for example `button`.
    let role: String
    let name: String
    let description: String
    /// The states, for example `focused`.
    let states: Set<String>
    /// The depth of the element in its window, which has depth 0.
    let depth: Int
    fileprivate let place: [String]
    private let frame: [Int]

    /// The distance from the window's left edge.
    var left: Int { frame[0] }
    /// The distance from the window's top edge.
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

/// The content of a program's windows, in which each element follows its parent.
struct ScreenContents: Decodable, Sendable {
    let nodes: [ScreenElement]

    /// The windows alone.
    var windows: [ScreenElement] { nodes.filter { $0.depth == 0 } }

    /// Returns every element with a role, in reading order.
    func all(_ role: String) -> [ScreenElement] { nodes.filter { $0.role == role } }

    /// Returns the first element with a role and a name.
    func first(_ role: String, _ name: String) -> ScreenElement? { first(role) { $0 == name } }

    /// Returns the first element with a role and a name that satisfies a condition.
    func first(_ role: String, where isMeant: (String) -> Bool) -> ScreenElement? {
        nodes.first { $0.role == role && isMeant($0.name) }
    }

    /// Returns the descendants of an element, without the element.
    func inside(_ element: ScreenElement) -> ScreenContents {
        guard let index = nodes.firstIndex(where: { $0.isSame(as: element) }) else { return ScreenContents(nodes: []) }
        return ScreenContents(nodes: Array(nodes[(index + 1)...].prefix { $0.depth > element.depth }))
    }

    /// Returns the window of an element.
    func window(of element: ScreenElement) -> ScreenElement? {
        guard let index = nodes.firstIndex(where: { $0.isSame(as: element) }) else { return nil }
        return nodes[...index].last { $0.depth == 0 }
    }

    /// The element that has the focus.
    var focused: ScreenElement? { nodes.first(where: \.isFocused) }

    /// Each text on the screen, in reading order.
    var texts: [String] { all("label").map(\.name) }

    /// Returns whether nothing exceeds the window's width, everything has a name, and the window fits the screen.
    func fits(_ size: DesktopScreen.Size) -> Bool {
        guard let window = windows.first else { return false }
        let used = nodes.filter { ["button", "tab", "switch", "list item"].contains($0.role) }
        let read = used + all("label")
        return window.width <= size.width && window.height <= size.height
            && read.allSatisfy { $0.left >= 0 && $0.right <= window.width }
            && used.allSatisfy { !$0.name.isEmpty }
            && all("tab").allSatisfy { $0.bottom <= window.height && $0.height >= 44 }
    }

    /// A description for a failure's text: role, name, states and place of each named element.
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
