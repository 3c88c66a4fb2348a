// SPDX-License-Identifier: Apache-2.0

/// A first-in, first-out queue in an array, whose removed front is freed from time to time.
///
/// Appending and removing take constant time on average. The methods are inlinable, because the store's writer and the
/// server's loops use them for each request and each handshake. They are public, because the compiler specializes no
/// `package` method in another module: an unspecialized `append` takes 950 instructions.
public struct FIFOQueue<Element> {
    /// The elements from `head` on; nil where an element was removed, so that the queue does not keep it alive.
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var head = 0

    /// Creates an empty queue.
    @inlinable public init() {}

    @inlinable public var count: Int { elements.count - head }
    @inlinable public var isEmpty: Bool { count == 0 }
    @inlinable public var first: Element? { head < elements.count ? elements[head] : nil }

    /// Returns the elements in order, in time proportional to their number.
    @inlinable public func all() -> [Element] { elements[head...].compactMap { $0 } }

    @inlinable public mutating func append(_ element: Element) { elements.append(element) }

    /// Inserts an element at the front; the time is proportional to `count` if no element was removed before.
    @inlinable public mutating func prepend(_ element: Element) {
        if head > 0 {
            head -= 1
            elements[head] = element
        } else {
            elements.insert(element, at: 0)
        }
    }

    @inlinable public mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let first = elements[head]
        elements[head] = nil
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: head <= 64)
            head = 0
        } else if head >= 64, head >= count {
            elements.removeFirst(head)
            head = 0
        }
        return first
    }
}
