// SPDX-License-Identifier: Apache-2.0

@testable import PushPostgres
import Testing

@Suite struct PostgresParametersTests {
    private static func bytes(_ parameters: PostgresParameters, _ index: Int) -> [UInt8]? {
        unsafe parameters.withArrays { _, values, byteCounts, formats in
            #expect(unsafe formats[index] == 1)
            guard let start = unsafe values[index] else { return nil }
            let count = Int(unsafe byteCounts[index])
            return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
        }
    }

    @Test func `an array has a header and the length of each element`() {
        let parameters = PostgresParameters([.int64Array, .bytesArray])
        parameters.append(Int64(1), to: 0)
        parameters.append(Int64?.none, to: 0)
        parameters.append([0xAB].span, to: 1)
        #expect(
            Self.bytes(parameters, 0) == [
                0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 20, 0, 0, 0, 2, 0, 0, 0, 1,
                0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF,
            ])
        #expect(
            Self.bytes(parameters, 1) == [
                0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 17, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0xAB,
            ])
        parameters.removeAll()
        #expect(Self.bytes(parameters, 0) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20])
    }

    @Test func `a value that is not an array is NULL until it is set`() {
        let parameters = PostgresParameters([.int64, .text, .bytes])
        #expect(Self.bytes(parameters, 0) == nil)
        parameters.set(Int64(-2), at: 0)
        parameters.set("é", at: 1)
        parameters.set([], at: 2)
        #expect(Self.bytes(parameters, 0) == [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE])
        #expect(Self.bytes(parameters, 1) == [0xC3, 0xA9])
        #expect(Self.bytes(parameters, 2) == [])
        parameters.set(Int64?.none, at: 0)
        #expect(Self.bytes(parameters, 0) == nil)
    }

    @Test func `a buffer grows without changing its content`() {
        let parameters = PostgresParameters([.bytesArray])
        for count in 0..<300 { parameters.append([UInt8](repeating: UInt8(count % 256), count: count).span, to: 0) }
        var rest = (Self.bytes(parameters, 0) ?? [])[20...]
        for count in 0..<300 {
            #expect(rest.prefix(4).elementsEqual([0, 0, UInt8(count / 256), UInt8(count % 256)]))
            #expect(rest.dropFirst(4).prefix(count).allSatisfy { $0 == UInt8(count % 256) })
            rest = rest.dropFirst(4 + count)
        }
        #expect(rest.isEmpty)
    }

    @Test(arguments: [Wrong.index, .type, .array, .element])
    fileprivate func `a wrong use stops the process`(wrong: Wrong) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [wrong = wrong as Wrong] in wrong.commit()
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(wrong.message))
    }
}

/// A wrong use of parameters, which is always a defect of the caller.
private enum Wrong: String, Codable, Sendable {
    case index, type, array, element

    var message: String {
        switch self {
        case .index: "there is no parameter 2"
        case .type, .array: "does not have this type"
        case .element: "is not an array of this type"
        }
    }

    func commit() {
        let parameters = PostgresParameters([.int64, .int64Array])
        switch self {
        case .index: parameters.set(Int64(1), at: 2)
        case .type: parameters.set("text", at: 0)
        case .array: parameters.set(Int64(1), at: 1)
        case .element: parameters.append([1].span, to: 1)
        }
    }
}
