// SPDX-License-Identifier: Apache-2.0

@testable import PushPostgres
import Testing

@Suite struct PlaceholdersTests {
    @Test(arguments: [
        ("SELECT 1", "SELECT 1", 0),
        ("SELECT ?, ?", "SELECT $1, $2", 2),
        ("SELECT ?2, ?1, ?2", "SELECT $2, $1, $2", 2),
        ("SELECT ?3, ?", "SELECT $3, $4", 4),
        ("SELECT ?12", "SELECT $12", 12),
        ("SELECT '?', ?", "SELECT '?', $1", 1),
        ("SELECT 'it''s ?', ?", "SELECT 'it''s ?', $1", 1),
        ("SELECT \"a?\", ?", "SELECT \"a?\", $1", 1),
        ("SELECT 1 -- ?\n, ?", "SELECT 1 -- ?\n, $1", 1),
        ("SELECT /* ? */ ?", "SELECT /* ? */ $1", 1),
        ("SELECT ? - ?", "SELECT $1 - $2", 2),
        ("SELECT ? / ?", "SELECT $1 / $2", 2),
        ("SELECT 'unfinished ?", "SELECT 'unfinished ?", 0),
        ("SELECT ?-", "SELECT $1-", 1),
        ("SELECT 'é🦆', ?", "SELECT 'é🦆', $1", 1),
        ("", "", 0),
    ])
    func `placeholders are translated outside quotes and comments`(sql: String, text: String, count: Int) {
        let translated = Placeholders(sql)
        #expect(translated.text == text)
        #expect(translated.parameterCount == count)
    }

    @Test func `a parameter with the number 0 stops the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Placeholders("SELECT ?0")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("parameters are counted from 1"))
    }
}
