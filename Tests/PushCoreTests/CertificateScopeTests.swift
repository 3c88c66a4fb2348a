// SPDX-License-Identifier: Apache-2.0

import PushAPI
@testable import PushCore
import TestSupport
import Testing

struct CertificateScopeTests {
    private static let app = "com.example.MyApp"
    /// `SEQUENCE { "com.example.MyApp", { "app" }, "com.example.MyApp.voip", { "voip" } }`, byte for byte.
    private static let list: [UInt8] =
        [0x30, 0x3A, 0x0C, 0x11] + bytes(app) + [0x30, 0x05, 0x0C, 0x03] + bytes("app")
        + [0x0C, 0x16] + bytes(app + ".voip") + [0x30, 0x06, 0x0C, 0x04] + bytes("voip")

    private func allows(_ scope: CertificateScope, _ topic: String, _ type: PushType?) -> Bool {
        scope.allows(topic: bytes(topic).span, pushType: type)
    }

    private func scope(userID: String? = app, _ extensions: [String: [UInt8]]) throws -> CertificateScope {
        try CertificateScope(userID: userID, extensions: extensions)
    }

    @Test(
        arguments: [
            ([], nil), ([CertificateExtension.production], .production),
            ([CertificateExtension.development], .development),
            ([CertificateExtension.production, CertificateExtension.development], nil),
        ] as [([String], Environment?)])
    func `a certificate for one environment is limited to it`(marks: [String], environment: Environment?) throws {
        let extensions = Dictionary(uniqueKeysWithValues: marks.map { ($0, [5, 0] as [UInt8]) })
        #expect(try scope(extensions).environment == environment)
    }

    @Test func `without a topic extension the UID is the only topic and the default`() throws {
        let scope = try scope(["2.5.29.37": [1, 2, 3]])
        #expect(scope == CertificateScope(defaultTopic: Self.app, topics: [Self.app], environment: nil))
    }

    @Test func `a topic extension replaces the UID, and there is no default`() throws {
        let expected = CertificateScope(defaultTopic: nil, topics: [Self.app, Self.app + ".voip"], environment: nil)
        #expect(try scope([CertificateExtension.topics: Self.list]) == expected)
        #expect(try scope(userID: nil, [CertificateExtension.topics: Self.list]) == expected)
        #expect(try scope(userID: "org.other", [CertificateExtension.topics: Self.list]) == expected)
    }

    @Test(arguments: [
        (app, [app, app + ".voip"]), (app + ".voip", [app + ".voip"]),
    ])
    func `a null VoIP extension means the topic of the UID`(userID: String, topics: [String]) throws {
        let scope = try scope(userID: userID, [CertificateExtension.voip: [5, 0]])
        #expect(scope == CertificateScope(defaultTopic: userID, topics: topics, environment: nil))
    }

    @Test func `a list in the VoIP extension adds its topics`() throws {
        let single = try scope(userID: "org.other", [CertificateExtension.voip: Self.list])
        #expect(single.topics == ["org.other", Self.app, Self.app + ".voip"])
        #expect(single.defaultTopic == "org.other")
        let both = try scope([CertificateExtension.voip: Self.list, CertificateExtension.topics: Self.list])
        #expect(both.topics == [Self.app, Self.app + ".voip"])
        let unnamed = try scope(userID: nil, [CertificateExtension.voip: Self.list])
        #expect(unnamed == CertificateScope(defaultTopic: nil, topics: both.topics, environment: nil))
    }

    @Test(
        arguments: [[:], [CertificateExtension.voip: [5, 0]], [CertificateExtension.production: [5, 0]]], [nil, ""])
    func `a certificate without a topic is refused`(extensions: [String: [UInt8]], userID: String?) {
        #expect(throws: CertificateScope.Failure.namesNoTopic) { _ = try scope(userID: userID, extensions) }
    }

    @Test(
        arguments: [
            [], [5, 0], [5, 1, 0], [0x30, 0], [0x31, 0], [0x30, 0x80, 0, 0], list + [0], Array(list.dropLast()),
            [0x30, 3, 0x0C, 1, 0x61], [0x30, 5, 0x0C, 1, 0x61, 5, 0], [0x30, 4, 0x0C, 0, 0x30, 0],
            [0x30, 5, 0x13, 1, 0x61, 0x30, 0], [0x30, 7, 0x0C, 1, 0x61, 0x30, 2, 5, 0],
            [0x30, 8, 0x0C, 1, 0x61, 0x30, 3, 0x0C, 2, 0x61], [0x30, 5, 0x0C, 1, 0xFF, 0x30, 0],
            [0x30, 5, 0x30, 0, 0x0C, 1, 0x61],
        ] as [[UInt8]])
    func `a malformed topic extension is refused`(content: [UInt8]) {
        #expect(throws: CertificateScope.Failure.malformedExtension(identifier: CertificateExtension.topics)) {
            _ = try scope([CertificateExtension.topics: content])
        }
        guard content != [5, 0] else { return }
        #expect(throws: CertificateScope.Failure.malformedExtension(identifier: CertificateExtension.voip)) {
            _ = try scope([CertificateExtension.voip: content])
        }
    }

    @Test(arguments: [(256, true), (257, false)])
    func `a list has at most 256 topics`(count: Int, isGood: Bool) {
        let written = CertificateScope(defaultTopic: nil, topics: (0..<count).map { "t\($0)" }, environment: nil)
        #expect((try? CertificateScope(userID: nil, extensions: written.extensionTable)) == (isGood ? written : nil))
    }

    @Test(arguments: PushType.allCases)
    func `a single-topic certificate allows push types that need no listing`(type: PushType) throws {
        let scope = try scope([:])
        let isAllowed: Bool =
            switch type {
            case .alert, .background, .mdm, .fileprovider, .widgets, .controls: true
            case .location, .voip, .complication, .liveactivity, .pushtotalk: false
            }
        #expect(allows(scope, Self.app + type.topicSuffix, type) == isAllowed)
        #expect(!allows(scope, "com.example.Other" + type.topicSuffix, type))
        #expect(!allows(scope, Self.app + "x" + type.topicSuffix, type))
        #expect(!allows(scope, type.topicSuffix, type))
        if !type.topicSuffix.isEmpty { #expect(!allows(scope, Self.app, type)) }
    }

    @Test(arguments: PushType.allCases)
    func `a certificate with a list allows the listed topics`(type: PushType) {
        let scope = CertificateScope(.universal, topic: TopicName(Self.app), environment: nil)
        let isListed: Bool =
            switch type {
            case .alert, .background, .mdm, .voip, .complication, .pushtotalk: true
            case .location, .fileprovider, .liveactivity, .widgets, .controls: false
            }
        #expect(allows(scope, Self.app + type.topicSuffix, type) == isListed)
        #expect(!allows(scope, "com.example.Other" + type.topicSuffix, type))
        if !type.topicSuffix.isEmpty { #expect(!allows(scope, Self.app, type)) }
        let exact = CertificateScope(defaultTopic: nil, topics: [Self.app + type.topicSuffix], environment: nil)
        let isNever = type == .location || type == .liveactivity
        #expect(allows(exact, Self.app + type.topicSuffix, type) == !isNever)
    }

    @Test(arguments: PushType.allCases)
    func `a VoIP certificate allows VoIP of its app only`(type: PushType) {
        let scope = CertificateScope(.voip, topic: TopicName(Self.app), environment: nil)
        #expect(allows(scope, Self.app + type.topicSuffix, type) == (type == .voip))
        #expect(!allows(scope, "com.example.Other" + type.topicSuffix, type))
    }

    @Test func `listed suffixes of a UID count for VoIP only`() throws {
        #expect(allows(try scope(userID: "a.voip", [:]), "a.voip", .voip))
        #expect(!allows(try scope(userID: "a.complication", [:]), "a.complication", .complication))
        #expect(!allows(try scope(userID: "a.voip-ptt", [:]), "a.voip-ptt", .pushtotalk))
        // An app cannot be named by the bare suffix.
        #expect(!allows(try scope(userID: ".voip", [:]), ".voip", .voip))
    }

    @Test func `a missing push type means alert, and names are compared as bytes`() throws {
        let scope = try scope(userID: "caf\u{E9}", [:])
        #expect(allows(scope, "caf\u{E9}", nil))
        #expect(!allows(scope, "cafe\u{301}", nil))
        #expect(!allows(scope, "CAF\u{E9}", nil))
        #expect(!allows(scope, "", nil))
    }

    @Test(arguments: CredentialAPI.NewCertificate.Kind.allCases, [nil] + Environment.allCases)
    func `the extensions of a new certificate can be decoded`(
        kind: CredentialAPI.NewCertificate.Kind, environment: Environment?
    ) throws {
        let scope = CertificateScope(kind, topic: TopicName(Self.app), environment: environment)
        #expect(try CertificateScope(userID: scope.defaultTopic, extensions: scope.extensionTable) == scope)
    }

    @Test func `the list is encoded as Apple encodes it`() {
        let scope = CertificateScope(defaultTopic: nil, topics: [Self.app, Self.app + ".voip"], environment: nil)
        #expect(scope.extensionTable[CertificateExtension.topics] == Self.list)
        #expect(scope.extensionTable[CertificateExtension.production] == [5, 0])
        #expect(scope.extensionTable[CertificateExtension.development] == [5, 0])
        #expect(scope.extensions.count == 3)
    }

    @Test func `a scope survives encoding and decoding`() throws {
        for seed in seeds {
            var generator = SeededGenerator(seed: seed)
            let suffixes = ["", ".voip", ".complication", ".voip-ptt"]
            var topics: [String] = []
            for number in 0...Int.random(in: 0...8, using: &generator) {
                topics.append(
                    "\(number)" + generator.text(countMax: 40) + (suffixes.randomElement(using: &generator) ?? ""))
            }
            let hasDefault = Bool.random(using: &generator)
            let environments: [Environment?] = [nil, .production, .development]
            let environment = environments.randomElement(using: &generator) ?? nil
            let scope = CertificateScope(
                defaultTopic: hasDefault ? topics[0] : nil, topics: topics, environment: environment)
            let read = try CertificateScope(userID: scope.defaultTopic, extensions: scope.extensionTable)
            #expect(read == scope, "seed \(seed)")
        }
    }

    @Test func `a list with a changed byte is refused or decoded as topics, and crashes nothing`() throws {
        let original = try scope(userID: nil, [CertificateExtension.topics: Self.list])
        var (readCount, refusedCount) = (0, 0)
        for offset in Self.list.indices {
            for value in UInt8.min...UInt8.max {
                var content = Self.list
                content[offset] = value
                guard let read = try? scope(userID: nil, [CertificateExtension.topics: content]) else {
                    refusedCount += 1
                    continue
                }
                readCount += 1
                // Each topic that was read must occur in the bytes.
                let stands = read.topics.allSatisfy { String(decoding: content, as: UTF8.self).contains($0) }
                #expect(!read.topics.isEmpty && stands, "byte \(offset) is \(value)")
                #expect((content == Self.list) ? read == original : true, "byte \(offset)")
            }
        }
        #expect(readCount > Self.list.count && refusedCount > Self.list.count, "\(readCount) and \(refusedCount)")
    }
}

extension CertificateScope {
    /// The extensions in the form in which a certificate's reader provides them.
    var extensionTable: [String: [UInt8]] {
        Dictionary(uniqueKeysWithValues: extensions.map { ($0.identifier, $0.content) })
    }
}
