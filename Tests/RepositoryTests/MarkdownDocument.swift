// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The parts of a Markdown file that the rules check: headings, links, tables, and the commands of its code blocks.
struct MarkdownDocument {
    /// Headings as anchors, as GitHub and its like make them.
    private(set) var anchors: Set<String> = []
    /// Targets of links and pictures.
    private(set) var links: [String] = []
    /// The fenced code blocks.
    private(set) var codeBlocks: [CodeBlock] = []
    /// The code in running text and in tables.
    private(set) var inlineCode: [String] = []
    /// The cells of each row of each table.
    private(set) var tables: [[[String]]] = []
    private var isInTable = false

    init(_ text: String) {
        var isInCode = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.trimmingCharacters(in: .whitespaces).hasPrefix("```") {
                isInCode.toggle()
                isInTable = false
                if isInCode { codeBlocks.append(CodeBlock(fence: line)) }
            } else if isInCode {
                codeBlocks[codeBlocks.count - 1].lines.append(line.trimmingCharacters(in: .whitespaces))
            } else {
                read(line)
                readRow(line)
            }
        }
    }

    /// Lines of all fenced code blocks.
    var codeLines: [String] { codeBlocks.flatMap(\.lines) }

    /// The code blocks with commands of a shell.
    ///
    /// A block without a language may also be a drawing.
    var shellBlocks: [String] {
        codeBlocks.filter { ["", "sh", "bash"].contains($0.language) }.map { $0.lines.joined(separator: "\n") }
            .filter { !$0.contains("│") }
    }

    private mutating func read(_ line: Substring) {
        if let heading = line.wholeMatch(of: /#{1,6} +(.+)/) { addAnchor(String(heading.1)) }
        inlineCode += line.matches(of: /`([^`]+)`/).map { String($0.1) }
        let withoutCode = line.replacing(/`[^`]*`/, with: "")
        links += withoutCode.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
    }

    /// A row of a table begins and ends with a bar; a bar in a cell has a backslash in front.
    private mutating func readRow(_ line: Substring) {
        let text = line.trimmingCharacters(in: .whitespaces)
        guard text.hasPrefix("|") else { return isInTable = false }
        let cells = text.replacing("\\|", with: "\u{1}").split(separator: "|", omittingEmptySubsequences: false)
        let row = cells.dropFirst().dropLast().map { $0.trimmingCharacters(in: .whitespaces) }
        if isInTable { tables[tables.count - 1].append(row) } else { tables.append([row]) }
        isInTable = true
    }

    private mutating func addAnchor(_ heading: String) {
        let kept = heading.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
        let anchor = kept.replacingOccurrences(of: " ", with: "-")
        var number = 0
        var unique = anchor
        while !anchors.insert(unique).inserted {
            number += 1
            unique = "\(anchor)-\(number)"
        }
    }
}

/// A fenced code block.
struct CodeBlock {
    /// The word after the fence; empty without one.
    let language: String
    /// The lines without indentation.
    var lines: [String] = []

    init(fence: Substring) {
        language = fence.trimmingCharacters(in: .whitespaces).replacing("`", with: "")
    }

    /// The `name = value` lines of a configuration file.
    var settings: [(name: String, value: String)] {
        lines.compactMap { line in
            line.wholeMatch(of: /([a-z_]+) *= *(.*)/).map { (String($0.1), String($0.2)) }
        }
    }

    /// The sections of a configuration file.
    var sections: [String] { lines.compactMap { $0.wholeMatch(of: /\[(.+)\]/).map { String($0.1) } } }
}
