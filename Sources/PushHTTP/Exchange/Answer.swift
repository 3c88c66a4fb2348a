// SPDX-License-Identifier: Apache-2.0

/// The response to a request, as far as it is known.
struct Answer {
    /// The progress of an answer.
    enum State {
        /// No part of the answer was given.
        case none
        /// Given completely, with its whole body.
        case whole
        /// A stream that may still grow.
        case streaming
        /// A stream that has been given completely.
        case streamEnded
    }

    var state = State.none
    var fields = AnswerFields()
    /// The part of the body that no frame has taken yet.
    var body = ByteQueue()
    /// Whether the body waits until the connection's window accepts it in one frame.
    var waitsForWindow = false

    init() {}

    /// Moves the fields out and leaves an empty list.
    mutating func takeFields() -> AnswerFields {
        var taken = AnswerFields()
        swap(&taken, &fields)
        return taken
    }

    /// Resets the answer for the next request and keeps the memory of its fields.
    mutating func removeAll() {
        (state, waitsForWindow) = (.none, false)
        fields.removeAll()
        body = ByteQueue()
    }
}
