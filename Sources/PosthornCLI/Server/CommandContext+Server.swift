// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit

extension CommandContext {
    /// Creates a client of the admin API, on the socket that the command line or the environment names.
    func admin(_ invocation: Invocation) -> AdminClient {
        AdminClient(sockets: AdminSocket.candidates(named: invocation.value("socket"), in: self))
    }
}
