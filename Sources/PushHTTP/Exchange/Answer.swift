// SPDX-License-Identifier: Apache-2.0

/// What is to go out for a request.
struct Answer {
    /// How far an answer has come.
    enum State {
        /// Not begun.
        case none
        /// All of it was given.
        case whole
        /// A stream to which more may be added.
        case streaming
        /// A stream of which all was given.
        case streamEnded
    }

    var state = State.none
    var fields = AnswerFields()
    /// What of the body has not gone into a frame.
    var body = ByteQueue()
    /// The body waits until the connection's window takes it in one frame.
    var waitsForWindow = false

    init() {}

    /// Gives the fields away.
    mutating func takeFields() -> AnswerFields {
        var taken = AnswerFields()
        swap(&taken, &fields)
        return taken
    }

    /// Makes room for another answer and keeps the memory of its fields.
    mutating func removeAll() {
        (state, waitsForWindow) = (.none, false)
        fields.removeAll()
        body = ByteQueue()
    }
}
