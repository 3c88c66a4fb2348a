// SPDX-License-Identifier: Apache-2.0

/// A method call that came in.
package struct IncomingCall {
    /// The caller's unique name, such as `:1.42`.
    package var sender: String
    /// The object that is called.
    package var path: String
    /// The interface that the object is served with.
    package var interface: String
    /// The method.
    package var member: String
    /// Its arguments, in order.
    package var arguments: [BusValue]
}

/// A signal that came in.
package struct IncomingSignal {
    /// The sender's unique name; empty when sd-bus itself made the signal.
    ///
    /// Anything on the bus can send a signal straight to a connection, past its subscriptions: where it matters who
    /// spoke, compare this with the owner of the name that was subscribed to.
    package var sender: String
    /// The object that speaks.
    package var path: String
    /// The interface of the signal.
    package var interface: String
    /// The signal's name.
    package var member: String
    /// Its arguments, in order.
    package var arguments: [BusValue]
}
