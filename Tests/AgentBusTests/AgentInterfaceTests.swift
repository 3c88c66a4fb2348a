// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushDBus
import TestSupport
import Testing

@testable import AgentBus

/// Compares the definitions with deploy/dbus/org.posthorn.Agent1.xml.
struct AgentInterfaceTests {
    private static let xml = try? String(
        contentsOfFile: "\(RepositoryPaths.root)/deploy/dbus/org.posthorn.Agent1.xml", encoding: .utf8)

    /// A record and the method that returns it.
    struct Returned: Sendable, CustomTestStringConvertible {
        let method: AgentMethod
        let types: [String: String]
        /// The keys of a record inside this one.
        var innerTypes: [String: String] = [:]
        var testDescription: String { method.rawValue }
    }

    @Test func `methods and signals are those of the interface`() throws {
        let xml = try #require(Self.xml)
        #expect(names("method", in: xml) == Set(AgentMethod.allCases.map(\.rawValue)))
        #expect(names("signal", in: xml) == Set(AgentSignal.allCases.map(\.rawValue)))
        #expect(xml.contains("<interface name=\"\(AgentInterface.name)\">"))
        #expect(xml.contains("object `\(AgentInterface.path)`"))
    }

    @Test func `the interface names no other errors`() throws {
        let xml = try #require(Self.xml)
        let named = Set(xml.matches(of: /`\.([A-Z]\w+)`/).map { String($0.1) })
        #expect(named.count > 20)
        #expect(named.subtracting(AgentErrorCode.allCases.map(\.rawValue)) == [])
    }

    @Test(arguments: AgentErrorCode.allCases)
    func `an error name leads back to its code`(code: AgentErrorCode) {
        #expect(AgentErrorCode(busName: code.busName) == code)
        #expect(AgentErrorCode(busName: code.rawValue) == nil)
    }

    @Test(arguments: [
        Returned(method: .getStatus, types: types(of: StatusRecord())),
        Returned(
            method: .listApps, types: types(of: AppRecord()), innerTypes: types(of: EventTypeRecord())),
        Returned(method: .listSettings, types: types(of: SettingRecord())),
        Returned(method: .listSounds, types: types(of: SoundRecord())),
        Returned(method: .listInbox, types: types(of: InboxRecord())),
        Returned(
            method: .listAlerts, types: types(of: AlertRecord()), innerTypes: types(of: AlertActionRecord())),
    ])
    func `the keys of a record are those of the interface`(returned: Returned) throws {
        let xml = try #require(Self.xml)
        let method = try #require(xml.range(of: "<method name=\"\(returned.method.rawValue)\""))
        let start = try #require(xml.range(of: "<!--", options: .backwards, range: xml.startIndex..<method.lowerBound))
        let text = xml[start.lowerBound..<method.lowerBound]
        // The keys of an inner record follow "each with", up to the next item of the list.
        let inner = /each with(?:(?!\n +- )[\s\S])*/
        #expect(keys(in: text.replacing(inner, with: "")) == returned.types)
        #expect(keys(in: text.matches(of: inner).map { String($0.0) }.joined()) == returned.innerTypes)
    }

    private func names(_ element: String, in xml: String) -> Set<String> {
        Set(xml.split(separator: "<\(element) name=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) })
    }

    private func keys(in text: some StringProtocol) -> [String: String] {
        let found = String(text).matches(of: /`(\w+)`\s+(aa\{sv\}|as|s|u|b|x)(?!\w)/)
        return Dictionary(found.map { (String($0.1), String($0.2)) }, uniquingKeysWith: { first, _ in first })
    }
}

/// Returns the signatures of a record's values by their keys.
private func types(of record: some AgentRecord) -> [String: String] {
    Dictionary(uniqueKeysWithValues: record.entries.map { key, value in (key, signature(of: value)) })
}

private func signature(of value: BusValue) -> String {
    switch value {
    case .variant(let inner): signature(of: inner)
    case .string: "s"
    case .bool: "b"
    case .int64: "x"
    case .uint32: "u"
    case .array(let element, _): "a\(element)"
    default: "?"
    }
}
