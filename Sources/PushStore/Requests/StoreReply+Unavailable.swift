// SPDX-License-Identifier: Apache-2.0

internal import PushCore

extension StoreReply {
    /// Returns the refusal of a command because the disk failed or is full; nil for commands without an answer.
    static func unavailable(_ command: StoreCommand, _ text: String) -> (StoreReply, ReplyAddress)? {
        switch command {
        case .accept(_, let answer), .publish(_, let answer):
            (.refused(.serviceUnavailable, unregisteredAt: nil, answer: answer), answer)
        case .attach(_, let stream, _): (.performed(.failure(.unavailable(text)), answer: stream), stream)
        case .perform(_, let answer): (.performed(.failure(.unavailable(text)), answer: answer), answer)
        case .host(.store(_, let answer)):
            (.refused(.serviceUnavailable, unregisteredAt: nil, answer: answer), answer)
        case .detach, .acknowledge, .usesDirectory, .host: nil
        }
    }
}
