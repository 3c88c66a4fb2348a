// SPDX-License-Identifier: Apache-2.0

/// An English word that a text check looks for, in lowercase.
enum KnownWord: String, CaseIterable, Sendable {
    case a, an, the, and, but, `for`, nor, or, so, yet
    case `as`, at, by, `in`, of, off, on, per, to, up, via, out, down, from, into, like, near, onto, over, past, than
    case upon, with
    case what, which, who, when, `where`, why, how, `is`, are, `do`, does, did, can, could, will, would, should
    case you, your, i, my
    case tap, press, touch, click, choose, select, button
    case view, close, ok, cancel
    case delete, remove, erase, discard
    case downloading, uploading, progress, still, running, step
    case done, complete, completed, finished, copying, exporting, importing, installing, loading, processing, syncing
    case updating
    case sure, not, cannot, cant = "can't", unable, failed
    case buy, now, limited, time, free, trial, special, offer, upgrade
    case exception, stack, trace, errno, null, json, sql, uuid, http, error, status
    case yes, no
    /// Words of other languages; they indicate that a text is not English.
    case der, das, und, ist, nicht, ein, eine, wurde, les, est, une, pas, vous, votre, el, los, las, del, por, para
    case il, che, della, sono, het, een, niet, och, att, inte

    /// The classes of words that the checks treat alike.
    struct Traits: OptionSet, Sendable {
        let rawValue: UInt16
        static let articleOrConjunction = Traits(rawValue: 1)
        static let preposition = Traits(rawValue: 2)
        static let interrogative = Traits(rawValue: 4)
        static let pronoun = Traits(rawValue: 8)
        static let pressing = Traits(rawValue: 16)
        static let label = Traits(rawValue: 32)
        static let removal = Traits(rawValue: 64)
        static let technical = Traits(rawValue: 128)
        static let foreign = Traits(rawValue: 256)
        /// With a percentage, the word makes a text a report of progress.
        static let progressing = Traits(rawValue: 512)
    }

    /// The classes of the word.
    var traits: Traits {
        switch self {
        case .a, .an, .the, .and, .but, .for, .nor, .or, .so, .yet: .articleOrConjunction
        case .as, .at, .by, .in, .of, .off, .on, .per, .to, .up, .via, .out, .down, .from, .into, .like, .near, .onto,
            .over, .past, .than, .upon, .with:
            .preposition
        case .what, .which, .who, .when, .where, .why, .how, .is, .are, .do, .does, .did, .can, .could, .will,
            .would, .should:
            .interrogative
        case .you, .your, .i, .my: .pronoun
        case .tap, .press, .touch, .click, .choose, .select: .pressing
        case .view, .close, .ok, .cancel: .label
        case .delete, .remove, .erase, .discard: .removal
        case .exception, .errno, .null, .json, .sql, .uuid: .technical
        case .der, .das, .und, .ist, .nicht, .ein, .eine, .wurde, .les, .est, .une, .pas, .vous, .votre, .el, .los,
            .las, .del, .por, .para, .il, .che, .della, .sono, .het, .een, .niet, .och, .att, .inte:
            .foreign
        case .downloading, .uploading, .progress, .done, .complete, .completed, .finished, .copying, .exporting,
            .importing, .installing, .loading, .processing, .syncing, .updating:
            .progressing
        case .button, .still, .running, .step, .sure, .not, .cannot, .cant,
            .unable, .failed, .buy, .now, .limited, .time, .free, .trial, .special, .offer, .upgrade, .stack, .trace,
            .http, .error, .status, .yes, .no:
            []
        }
    }

    /// The words, indexed by their bytes.
    static let table = PackedTable(allCases.map { (key: $0.rawValue, value: (word: $0, traits: $0.traits)) })
}

/// A Chinese phrase that a text check looks for, in traditional and simplified characters.
struct ChinesePhrase: Sendable {
    /// The meaning of a phrase for the checks.
    enum Meaning: Sendable {
        case progress, confirmation, connectionTrouble, advertising, emptyWord, label, pressing, pressingNotTapping
    }

    let meaning: Meaning
    /// The number of characters.
    let count: Int
    private let packed: UInt64
    private let mask: UInt64

    private init(_ text: String, _ meaning: Meaning) {
        self.meaning = meaning
        packed = text.unicodeScalars.reduce(0) { Self.push($1, into: $0) }
        count = text.unicodeScalars.count
        mask = count == 4 ? .max : 1 << UInt64(16 * count) - 1
    }

    /// Appends a character to a window of the last four characters.
    @inline(__always)
    static func push(_ scalar: Unicode.Scalar, into window: UInt64) -> UInt64 {
        window << 16 | UInt64(min(scalar.value, 0xFFFF))
    }

    /// Returns the known phrase at the end of the window; nil if the window ends with another text.
    static func ending(_ window: UInt64) -> ChinesePhrase? {
        // Only the few phrases whose last character has the same low six bits are compared; mostly there are none.
        for phrase in table[Int(window & 63)] where window & phrase.mask == phrase.packed { return phrase }
        return nil
    }

    private static let all: [ChinesePhrase] = [
        ("正在下載 正在下载 進行中 进行中", .progress), ("確定要 确定要 是否刪除 是否删除", .confirmation),
        ("無法連接 无法连接 連接失敗 连接失败", .connectionTrouble),
        ("優惠 优惠 折扣 促銷 促销 特價 特价 免費試用 免费试用", .advertising),
        ("錯誤 错误 警告 注意 提示", .emptyWord), ("查看 關閉 关闭 確定 确定 取消", .label),
        ("點選 点选 輕擊 轻击", .pressing), ("點擊 点击 按", .pressingNotTapping),
    ].flatMap { texts, meaning in texts.split(separator: " ").map { ChinesePhrase(String($0), meaning) } }

    /// The phrases, indexed by the low six bits of their last character.
    private static let table = (0..<64).map { bits in all.filter { $0.packed & 63 == bits } }
}
