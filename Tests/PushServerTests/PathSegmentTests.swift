// SPDX-License-Identifier: Apache-2.0

@testable import PushServer
internal import Testing

struct PathSegmentTests {
    @Test(arguments: [
        ("", ""), ("abc", "abc"), ("%2F", "/"), ("%2f", "/"), ("a%2Bb%3D%3D", "a+b=="), ("a/b+c=", "a/b+c="),
        ("%25%2F", "%/"), ("%252F", "%2F"), ("%00", "\0"),
    ])
    func `a percent sign and two hex digits decode to a byte`(segment: String, text: String) {
        #expect(PathSegment.decode(segment.utf8.span) == Array(text.utf8))
    }

    @Test(arguments: ["%", "%2", "a%", "a%4", "%zz", "%2g", "%%41", "%-1", "%+1"])
    func `a percent sign before anything else is refused`(segment: String) {
        #expect(PathSegment.decode(segment.utf8.span) == nil)
    }
}
