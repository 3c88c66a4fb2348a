// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP

/// The members that a request body may have, so that an error names the wrong member and its valid values.
///
/// Unknown members are refused: a typo in `topics` must not create a key for every topic.
struct AdminBody {
    /// A member of a body.
    struct Member {
        let name: String
        let kind: Kind
        var isRequired = false
    }

    /// The values that a member may have; null means that the member is absent.
    enum Kind {
        case text
        case flag
        /// A list of at least one string.
        case texts
        case choice([String])
        case number(ClosedRange<Int64>, meaning: String)
    }

    let members: [Member]

    /// The environment of a key or a channel.
    static let environment = Member(name: "environment", kind: .choice(Environment.allCases.map(\.rawValue)))

    /// Decodes a body, or answers 400 or 413 if it is invalid.
    func read<Body: Decodable>(_ type: Body.Type, of exchange: HTTPExchange) -> Body? {
        let bytes = exchange.body
        if !exchange.bodyOverflowed, let value = try? JSONValue(parsing: bytes.span), let problem = problem(in: value) {
            ControlAnswer.refuse(exchange, status: 400, "BadRequest", problem)
            return nil
        }
        return ControlAnswer.body(type, of: exchange)
    }

    /// Returns the problem with the members of a body, in one or two sentences, or nil if they are valid.
    func problem(in body: JSONValue) -> String? {
        guard let given = body.members else { return nil }
        for (index, member) in given.enumerated() {
            if given[..<index].contains(where: { $0.key.utf8.elementsEqual(member.key.utf8) }) {
                return "Repeated member \"\(member.key.prefix(64))\". Send each member once."
            }
            guard let known = members.first(where: { $0.name.utf8.elementsEqual(member.key.utf8) }) else {
                return unknown(member.key)
            }
            guard member.value.isNull || known.kind.takes(member.value) else {
                return "\(known.name) must be \(known.kind.description)."
            }
        }
        let missing = members.first { $0.isRequired && body[$0.name]?.isNull ?? true }
        return missing.map { "\($0.name) is missing: it must be \($0.kind.description)." }
    }

    private func unknown(_ name: String) -> String {
        let names = members.map(\.name)
        let closest = Spelling.closest(to: name, among: names).map { "Did you mean \($0)? " } ?? ""
        return
            "Unknown member \"\(name.prefix(64))\". \(closest)Allowed members: \(names.joined(separator: ", "))."
    }
}

extension AdminBody.Kind {
    fileprivate func takes(_ value: JSONValue) -> Bool {
        switch self {
        case .text: value.string != nil
        case .flag: value.bool != nil
        case .texts: value.array.map { !$0.isEmpty && $0.allSatisfy { $0.string != nil } } ?? false
        case .choice(let words): words.contains { value.string?.utf8.elementsEqual($0.utf8) ?? false }
        case .number(let range, _): value.integer.map(range.contains) ?? false
        }
    }

    /// The end of a sentence that begins with a member and "must be".
    fileprivate var description: String {
        switch self {
        case .text: "a string"
        case .flag: "true or false"
        case .texts: "a list of at least one string"
        case .choice(let words): "one of: \(words.joined(separator: ", "))"
        case .number(_, let meaning): meaning
        }
    }
}
