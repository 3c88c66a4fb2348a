// SPDX-License-Identifier: Apache-2.0

internal import Testing

struct SwiftSourceTests {
    @Test(arguments: [
        ("let a = 1 // func {", "let a = 1          "),
        ("/* { /* { */ */ x", "                x"),
        (#"f("{") {"#, "f(   ) {"),
        (##"f(#"a"{"#) {"##, "f(       ) {"),
        (#"f("\(g(h("}")))") {"#, "f(   g(h(   ))  ) {"),
        ("\"\"\"\n{ \"q\" }\n\"\"\"\nx", "   \n       \n   \nx"),
        (#"f("\\") {"#, "f(    ) {"),
    ])
    func `comments and strings are blanked out, and code is unchanged`(text: String, code: String) {
        #expect(SwiftSource(text).code == code)
    }

    @Test func `a function's length runs from its first word to its closing brace`() {
        let source = SwiftSource(
            """
            struct A {
                init?(b: () -> Void = { }) {
                    if b { }
                }
                func `a name`() -> Int
                {
                    .init(1)
                }
                deinit { }
            }
            protocol P { func requirement() }
            """)
        #expect(source.functions.map(\.line) == [2, 5, 9])
        #expect(source.functions.map(\.lineCount) == [3, 4, 1])
    }
}
