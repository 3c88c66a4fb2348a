// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP

/// What the body of a request may hold, so that a person who got it wrong hears which member, and what it should be.
///
/// Members that it does not know are refused: a slip in `topics` must not make a key for every topic.
struct AdminBody {
    /// One member.
    struct Member {
        let name: String
        let kind: Kind
        var isRequired = false
    }

    /// What a member may be; null stands for a member that is left out.
    enum Kind {
        case text
        case flag
        /// At least one.
        case texts
        case choice([String])
        case number(ClosedRange<Int64>, meaning: String)
    }

    let members: [Member]

    /// The environment that a key or a channel is for.
    static let environment = Member(name: "environment", kind: .choice(Environment.allCases.map(\.rawValue)))

    /// Reads a body; answers 400 or 413 itself when it is not what it should be.
    func read<Body: Decodable>(_ type: Body.Type, of exchange: HTTPExchange) -> Body? {
        let bytes = exchange.body
        if !exchange.bodyOverflowed, let value = try? JSONValue(parsing: bytes.span), let problem = problem(in: value) {
            ControlAnswer.refuse(exchange, status: 400, "BadRequest", problem)
            return nil
        }
        return ControlAnswer.body(type, of: exchange)
    }

    /// What is wrong with the members of a body, in one or two sentences; nil when nothing is.
    func problem(in body: JSONValue) -> String? {
        guard let given = body.members else { return nil }
        for member in given {
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

    /// Stands behind "is".
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
