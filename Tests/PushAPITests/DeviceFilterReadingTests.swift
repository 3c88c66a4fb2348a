// SPDX-License-Identifier: Apache-2.0

@testable import PushAPI
import PushCore
import Testing

@Suite struct DeviceFilterReadingTests {
    private func read(_ text: String) -> Result<[TopicName], DeviceBodyError> {
        let bytes = Array(text.utf8)
        do throws(DeviceBodyError) {
            return .success(try DeviceAPI.Filter(reading: bytes.span).refusedTopics)
        } catch {
            return .failure(error)
        }
    }

    @Test(arguments: [
        (#"{"refused_topics":[]}"#, []),
        (#" { "refused_topics" : [ "a" , "b\u0041\"" ] , "later":{"x":[1]} } "#, ["a", "bA\""]),
        (#"{"refused_topics":["a"],"refused_topics":["c"]}"#, ["c"]),
    ])
    func `topics are read as they are written`(text: String, topics: [TopicName]) {
        #expect(read(text) == .success(topics))
    }

    @Test(arguments: [
        ("{}", "refused_topics is missing."), (#"{"refused_topics":null}"#, "refused_topics must be a list."),
        (#"{"refused_topics":["a",1]}"#, "refused_topics[1] must be a string."),
        (#"{"refused_topics":[["a"]]}"#, "refused_topics[0] must be a string."),
    ])
    func `an invalid member is named`(text: String, defect: String) {
        #expect(read(text) == .failure(.malformed(defect)))
    }

    @Test(arguments: [
        "", "[]", "{", #"{"refused_topics":["a"}"#, #"{"refused_topics":["a"]} x"#, #"{"refused_topics":[01]}"#,
    ])
    func `input that is not a JSON object is refused as such`(text: String) {
        guard case .failure(.notJSON) = read(text) else { return #expect(Bool(false), "\(read(text))") }
    }

    @Test(arguments: [(1000, true), (1001, false), (30_000, false)])
    func `a filter with too many topics is refused`(count: Int, isGood: Bool) {
        let list = Array(repeating: #""a""#, count: count).joined(separator: ",")
        let result = read(#"{"refused_topics":[\#(list)]}"#)
        #expect(result == (isGood ? .success(Array(repeating: "a", count: count)) : .failure(.tooMany(countMax: 1000))))
    }
}
