// SPDX-License-Identifier: Apache-2.0

extension CertificateScope {
    /// Reads the scope of a certificate.
    ///
    /// - Parameters:
    ///   - userID: The UID of the subject.
    ///   - extensions: The DER of each extension, by dotted object identifier.
    /// - Throws: `Failure`, when the certificate names no topic, or one of Apple's extensions is malformed.
    package init(userID: String?, extensions: [String: [UInt8]]) throws(Failure) {
        let userID = userID.flatMap { $0.isEmpty ? nil : $0 }
        let voipTopics = try Self.voipTopics(userID: userID, extensions)
        if let content = extensions[CertificateExtension.topics] {
            let listed = try Self.topicList(content, CertificateExtension.topics)
            self.init(defaultTopic: nil, topics: Self.distinct(listed + voipTopics), environment: nil)
        } else {
            let topics = Self.distinct([userID].compactMap(\.self) + voipTopics)
            guard !topics.isEmpty else { throw .namesNoTopic }
            self.init(defaultTopic: userID, topics: topics, environment: nil)
        }
        switch (extensions[CertificateExtension.production], extensions[CertificateExtension.development]) {
        case (.some, nil): environment = .production
        case (nil, .some): environment = .development
        case (.some, .some), (nil, nil): environment = nil
        }
    }

    /// Returns the topics of the VoIP extension: the listed ones, or the VoIP topic of the UID.
    private static func voipTopics(userID: String?, _ extensions: [String: [UInt8]]) throws(Failure) -> [String] {
        guard let content = extensions[CertificateExtension.voip] else { return [] }
        guard content == DERWriter.null else { return try topicList(content, CertificateExtension.voip) }
        guard let userID else { return [] }
        let suffix = PushType.voip.topicSuffix
        return [userID.endsWith(suffix) ? userID : userID + suffix]
    }

    private static func topicList(_ content: [UInt8], _ identifier: String) throws(Failure) -> [String] {
        do throws(DERReader.Malformed) {
            return try topicList(content.span)
        } catch {
            throw .malformedExtension(identifier: identifier)
        }
    }

    /// Parses `SEQUENCE { UTF8String topic, SEQUENCE { UTF8String kind, … }, … }`.
    ///
    /// The kinds are ignored, because the suffix of the topic contains the same information.
    private static func topicList(_ bytes: Span<UInt8>) throws(DERReader.Malformed) -> [String] {
        var reader = DERReader(bytes)
        var list = try reader.elements(of: DERReader.Tag.sequence, bytes)
        guard reader.isAtEnd, !list.isAtEnd else { throw DERReader.Malformed() }
        var topics: [String] = []
        while !list.isAtEnd {
            let topic = try list.text(bytes)
            guard !topic.isEmpty, topics.count < Limits.certificateTopicCountMax else { throw DERReader.Malformed() }
            topics.append(topic)
            var kinds = try list.elements(of: DERReader.Tag.sequence, bytes)
            while !kinds.isAtEnd { _ = try kinds.text(bytes) }
        }
        return topics
    }

    /// Returns each topic once, compared as bytes, in the order of first appearance.
    private static func distinct(_ topics: [String]) -> [String] {
        var seen: Set<[UInt8]> = []
        return topics.filter { seen.insert(Array($0.utf8)).inserted }
    }
}
